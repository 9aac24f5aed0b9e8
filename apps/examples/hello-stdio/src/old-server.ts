/** A server of the older era, written by hand, that ends when it is asked what it does not know. */
import { createInterface } from 'node:readline'

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') {
    const { protocolVersion } = params
    answer(id, { protocolVersion, capabilities: {}, serverInfo: { name: 'old', version: '0.1.0' } })
  } else if (method === 'ping') answer(id, {})
  else if (id !== undefined) process.exit(1)
}

function answer(id: unknown, result: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
}
