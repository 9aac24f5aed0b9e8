/** A hand-written server of the legacy era that exits when it receives an unknown request. */
import { createInterface } from 'node:readline'

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') {
    const { protocolVersion } = params
    respond(id, { protocolVersion, capabilities: {}, serverInfo: { name: 'old', version: '0.1.0' } })
  } else if (method === 'ping') respond(id, {})
  else if (id !== undefined) process.exit(1)
}

function respond(id: unknown, result: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
}
