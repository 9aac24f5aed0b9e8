// The baseline over stdio: lines of JSON.
import { StringDecoder } from 'node:string_decoder'

const info = { name: 'bench', version: '1.0.0' }

/** Answers each line of stdin; `check` validates the arguments of a call. */
export function echo({ check = (args) => args, write }) {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  process.stdin.on('data', (chunk) => {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop()
    write(
      lines
        .map(JSON.parse)
        .filter(hasId)
        .map((message) => `${answer(message, check)}\n`),
    )
  })
}

const hasId = ({ id }) => id !== undefined

function answer({ id, method, params }, check) {
  return JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method, params, check) })
}

function resultOf(method, params, check) {
  if (method === 'initialize') return { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: info }
  if (method === 'server/discover') return { supportedVersions: [], capabilities: {}, serverInfo: info }
  const { a, b } = check(params.arguments)
  return { content: [{ type: 'text', text: String(a + b) }] }
}
