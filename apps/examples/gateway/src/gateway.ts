/** One server made of others: one of this process, one of another program, and rules for both. */
import { type Client, proxy } from '@mcpx/client'
import { type AuditEntry, approve, audit, createServer, rateLimit, timeout } from '@mcpx/server'
import { z } from 'zod'

const files = createServer({ name: 'files', version: '1.0.0' })
  .tool(
    'read',
    { input: z.object({ path: z.string() }), annotations: { readOnlyHint: true } },
    ({ path }) => `the text of ${path}`,
  )
  .tool('delete', { input: z.object({ path: z.string() }), annotations: { destructiveHint: true } }, () => 'Gone.')

export function createGateway(notes: Client, write: (entry: AuditEntry) => void) {
  return (
    createServer({ name: 'gateway', version: '1.0.0' })
      // Tools become files.read and notes.add; resources, prompts and completions likewise.
      .mount('files', files)
      // Everything crosses: progress, logs, questions, cancellation, changes.
      .mount('notes', proxy(notes))
      // The first one added is the outermost: it sees what all the others make of a request.
      .use(audit(write))
      .use(rateLimit({ limit: 100, window: 60_000 }))
      .use(timeout(5_000))
      .use(approve({ when: (tool) => tool.annotations?.destructiveHint === true }))
  )
}
