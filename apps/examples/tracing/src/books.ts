/** A server on stdio that reads a database. `node books.ts <URL of the collector>` */
import { DatabaseSync } from 'node:sqlite'
import { createServer } from '@mcpx/server'
import { telemetry } from '@mcpx/telemetry'
import { serveStdio } from '@mcpx/transport-stdio'
import { SpanKind, trace } from '@opentelemetry/api'
import { z } from 'zod'
import { startTracing } from './tracing.ts'

const provider = startTracing('books', process.argv[2] as string)
const tracer = trace.getTracer('database')

const database = new DatabaseSync(':memory:')
database.exec(
  `CREATE TABLE books (title TEXT); INSERT INTO books VALUES ('The Owl Service'), ('The Wind in the Willows')`,
)

/** Queries the database within a span, as an instrumented driver does: `node:sqlite` has no instrumentation. */
function queryTitles(word: string): string[] {
  const query = 'SELECT title FROM books WHERE instr(title, ?)'
  const attributes = { 'db.system.name': 'sqlite', 'db.query.text': query }
  return tracer.startActiveSpan('SELECT books', { kind: SpanKind.CLIENT, attributes }, (span) => {
    try {
      return database
        .prepare(query)
        .all(word)
        .map(({ title }) => String(title))
    } finally {
      span.end()
    }
  })
}

const server = createServer({ name: 'books', version: '1.0.0' }, { telemetry: telemetry() })
  .tool('search', { input: z.object({ word: z.string() }) }, ({ word }) => queryTitles(word).join(', '))
  .tool('buy', { input: z.object({ title: z.string() }) }, async ({ title }, ctx) => {
    const schema = z.object({ copies: z.number().int() })
    const answer = await ctx.elicit('copies', { message: `How many copies of ${title}?`, schema })
    return answer.action === 'accept' ? `Bought ${answer.content.copies}.` : 'Not bought.'
  })

await serveStdio(server)
await provider.shutdown()
