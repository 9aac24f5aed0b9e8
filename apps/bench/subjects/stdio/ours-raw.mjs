// Our server with a tool with plain JSON Schema, without zod.
import { createServer } from '@mcpx/server'
import { serveStdio } from '@mcpx/transport-stdio'

const properties = { a: { type: 'number' }, b: { type: 'number' } }
const input = { type: 'object', properties, required: ['a', 'b'] }
const add = ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] })

await serveStdio(
  createServer({ name: 'bench', version: '1.0.0' }).tool('add', { description: 'Add two numbers', input }, add),
)
