/** Writes a call as TypeScript and as a command line. */

import type { JsonObject } from '@mcpx/protocol'
import type { ServerSource } from '../api.ts'

/** Returns a program that calls a tool. */
export function toTypeScript(source: ServerSource, tool: string, args: JsonObject): string {
  const [importLine, connector] = connectorOf(source)
  const list = Object.keys(args).length === 0 ? '' : `, ${JSON.stringify(args, null, 2)}`
  return `import { connect } from '@mcpx/client'
${importLine}

const client = await connect(${connector})
const result = await client.callTool(${JSON.stringify(tool)}${list})
console.log(result.structuredContent ?? result.content)
await client.close()
`
}

function connectorOf(source: ServerSource): [importLine: string, connector: string] {
  const spawn = "import { spawn } from '@mcpx/transport-stdio'"
  switch (source.kind) {
    case 'url':
      return ["import { http } from '@mcpx/transport-http/client'", `http(${JSON.stringify(source.url)})`]
    case 'command':
      return [spawn, `spawn(${JSON.stringify(source.command)}, ${JSON.stringify(source.args)})`]
    case 'file':
      return [spawn, `spawn('npx', ${JSON.stringify(['mcpx', 'run', source.word, '--stdio'])})`]
    default:
      return [spawn, "spawn('<command from your settings>', ['<arguments from your settings>'])"]
  }
}

/** Returns a command line that calls a tool. */
export function toCommand(source: ServerSource, tool: string, args: JsonObject): string {
  const hasPlainNames = Object.keys(args).every((name) => /^[A-Za-z_][\w-]*$/.test(name))
  const words = hasPlainNames
    ? Object.entries(args).map(([name, value]) =>
        // Write a string that looks like JSON as a JSON string, so that it stays a string.
        typeof value === 'string' && !isJson(value) ? `${name}=${value}` : `${name}:=${JSON.stringify(value)}`,
      )
    : ['--args', JSON.stringify(args)]
  const command = source.kind === 'command' ? ['--', source.command, ...source.args] : []
  const server =
    source.kind === 'url' ? [source.url] : source.kind === 'stdin' ? ['-'] : 'word' in source ? [source.word] : []
  return ['mcpx', 'call', ...server, tool, ...words, ...command].map(quoteWord).join(' ')
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Quotes a word for a POSIX shell. */
function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
