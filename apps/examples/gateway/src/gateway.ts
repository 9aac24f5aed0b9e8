/** A server that combines a server in this process with a server in another process, and adds middleware to both. */
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

export function createGateway(notes: Client, writeEntry: (entry: AuditEntry) => void) {
  return (
    createServer({ name: 'gateway', version: '1.0.0' })
      // The tools are now called `files.read` and `notes.add`. Resources, prompts and completions have the same
      // prefixes.
      .mount('files', files)
      // The proxy forwards progress, logs, input requests, cancellation and change notifications.
      .mount('notes', proxy(notes))
      // The first middleware is the outermost: it sees the result of all other middleware.
      .use(audit(writeEntry))
      .use(rateLimit({ limit: 100, window: 60_000 }))
      .use(timeout(5_000))
      .use(approve({ when: (tool) => tool.annotations?.destructiveHint === true }))
  )
}
