/** How to connect hosts to this server: what goes into their settings, ready to be copied. */
import { fileURLToPath } from 'node:url'
import { heading, paint } from './terminal.ts'

const start = fileURLToPath(new URL('../../../scripts/start.mjs', import.meta.url))

export function showHosts(url: string): void {
  heading('Connect a host to it')
  show('Claude Code', `claude mcp add --transport http trains ${url}`)
  show('Cursor, in .cursor/mcp.json', { mcpServers: { trains: { url } } })
  show('VS Code, in .vscode/mcp.json', { servers: { trains: { type: 'http', url } } })
  show('MCP Inspector, on the command line', `npx @modelcontextprotocol/inspector --cli ${url} --method tools/list`)
  const program = { command: 'node', args: [start, '--stdio'] }
  show('Claude Desktop and others that start a program', { mcpServers: { trains: program } })
}

function show(host: string, what: string | object): void {
  console.log(`  ${paint('dim', host)}\n    ${typeof what === 'string' ? what : JSON.stringify(what)}`)
}
