// The baseline: a fetch handler that parses JSON, validates the arguments with zod, and writes JSON.
import { resultOf } from '../parts/bare.mjs'
import { tools } from '../parts/workload.mjs'

const [{ schema }] = tools

export async function handle(request) {
  const message = await request.json()
  schema.parse(message.params.arguments)
  return Response.json({ jsonrpc: '2.0', id: message.id, result: resultOf(message) })
}
