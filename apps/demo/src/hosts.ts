/** The settings or commands that connect MCP hosts to this server. */
import { fileURLToPath } from 'node:url'
import { heading, paint } from './terminal.ts'

interface Host {
  readonly name: string
  /** The command to run, or the JSON to put into the settings. */
  readonly instruction: string
}

const start = fileURLToPath(new URL('../../../scripts/start.mjs', import.meta.url))

export function showHosts(url: string): void {
  heading('Connect a host to it')
  for (const { name, instruction } of hostsOf(url)) console.log(`  ${paint('dim', name)}\n    ${instruction}`)
}

export function hostsOf(url: string): Host[] {
  // Desktop hosts often do not inherit the PATH of a shell, so the path of Node is absolute.
  const program = { command: process.execPath, args: [start, '--stdio'] }
  return [
    { name: 'Claude Code', instruction: `claude mcp add --transport http trains ${url}` },
    { name: 'Codex', instruction: `codex mcp add trains --url ${url}` },
    { name: 'Gemini CLI', instruction: `gemini mcp add --transport http trains ${url}` },
    { name: 'Cursor, in .cursor/mcp.json', instruction: settings({ mcpServers: { trains: { url } } }) },
    { name: 'VS Code, in .vscode/mcp.json', instruction: settings({ servers: { trains: { type: 'http', url } } }) },
    {
      name: 'Windsurf, in ~/.codeium/windsurf/mcp_config.json',
      instruction: settings({ mcpServers: { trains: { serverUrl: url } } }),
    },
    {
      name: 'MCP Inspector, on the command line',
      instruction: `npx @modelcontextprotocol/inspector --cli ${url} --method tools/list`,
    },
    {
      name: 'Claude Desktop, in claude_desktop_config.json; it starts a server of its own',
      instruction: settings({ mcpServers: { trains: program } }),
    },
  ]
}

const settings = (members: object): string => JSON.stringify(members)
