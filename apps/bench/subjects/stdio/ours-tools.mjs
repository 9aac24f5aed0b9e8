// Ours by the entry for tools alone, with a tool of zod.
import { createServer } from '@mcpx/server/tools'
import { serveStdio } from '@mcpx/transport-stdio'
import * as z from 'zod'

const input = z.object({ a: z.number(), b: z.number() })
const add = ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] })

await serveStdio(
  createServer({ name: 'bench', version: '1.0.0' }).tool('add', { description: 'Add two numbers', input }, add),
)
