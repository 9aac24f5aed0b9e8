/** Prints the command or the settings that connect each host to this server. The pages in docs/hosts explain them. */
import { fileURLToPath } from 'node:url'
import { heading, paint } from './terminal.ts'

interface Host {
  readonly name: string
  /** The page in docs/hosts that explains it. */
  readonly page: string
  /** The command to run, or the contents of the settings file as JSON. */
  readonly instruction: string
}

const start = fileURLToPath(new URL('../../../scripts/start.mjs', import.meta.url))

export function showHosts(url: string): void {
  heading('Connect a host to it')
  for (const { name, instruction } of hostsOf(url)) console.log(`  ${paint('dim', name)}\n    ${instruction}`)
  console.log('  docs/hosts explains these lines, and how to connect a server of your own.')
}

export function hostsOf(url: string): Host[] {
  // Desktop hosts often do not inherit the PATH of a shell, so the path of Node is absolute.
  const program = { command: process.execPath, args: [start, '--stdio'] }
  return [
    { name: 'Claude Code', page: 'claude-code', instruction: `claude mcp add --transport http trains ${url}` },
    { name: 'Codex', page: 'codex', instruction: `codex mcp add trains --url ${url}` },
    { name: 'Gemini CLI', page: 'gemini-cli', instruction: `gemini mcp add --transport http trains ${url}` },
    { name: 'Cursor, in .cursor/mcp.json', page: 'cursor', instruction: settings({ mcpServers: { trains: { url } } }) },
    {
      name: 'VS Code, in .vscode/mcp.json',
      page: 'vs-code',
      instruction: settings({ servers: { trains: { type: 'http', url } } }),
    },
    {
      name: 'Windsurf, in ~/.codeium/windsurf/mcp_config.json',
      page: 'windsurf',
      instruction: settings({ mcpServers: { trains: { serverUrl: url } } }),
    },
    {
      name: 'MCP Inspector, on the command line',
      page: 'mcp-inspector',
      instruction: `npx @modelcontextprotocol/inspector --cli ${url} --method tools/list`,
    },
    {
      name: 'Claude Desktop, in claude_desktop_config.json; it starts a server of its own',
      page: 'claude-desktop',
      instruction: settings({ mcpServers: { trains: program } }),
    },
  ]
}

const settings = (members: object): string => JSON.stringify(members)
