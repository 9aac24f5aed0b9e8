/** How to connect hosts to this server: what goes into their settings, ready to be copied. */
import { fileURLToPath } from 'node:url'
import { heading, paint } from './terminal.ts'

interface Host {
  readonly name: string
  /** A command to be run, or what its settings hold. */
  readonly what: string
}

const start = fileURLToPath(new URL('../../../scripts/start.mjs', import.meta.url))

export function showHosts(url: string): void {
  heading('Connect a host to it')
  for (const { name, what } of hostsOf(url)) console.log(`  ${paint('dim', name)}\n    ${what}`)
}

export function hostsOf(url: string): Host[] {
  // Hosts with windows are seldom started by a shell, and then do not know its PATH: the whole path of Node is given.
  const program = { command: process.execPath, args: [start, '--stdio'] }
  return [
    { name: 'Claude Code', what: `claude mcp add --transport http trains ${url}` },
    { name: 'Codex', what: `codex mcp add trains --url ${url}` },
    { name: 'Gemini CLI', what: `gemini mcp add --transport http trains ${url}` },
    { name: 'Cursor, in .cursor/mcp.json', what: settings({ mcpServers: { trains: { url } } }) },
    { name: 'VS Code, in .vscode/mcp.json', what: settings({ servers: { trains: { type: 'http', url } } }) },
    {
      name: 'Windsurf, in ~/.codeium/windsurf/mcp_config.json',
      what: settings({ mcpServers: { trains: { serverUrl: url } } }),
    },
    {
      name: 'MCP Inspector, on the command line',
      what: `npx @modelcontextprotocol/inspector --cli ${url} --method tools/list`,
    },
    {
      name: 'Claude Desktop, in claude_desktop_config.json; it starts a server of its own',
      what: settings({ mcpServers: { trains: program } }),
    },
  ]
}

const settings = (members: object): string => JSON.stringify(members)
