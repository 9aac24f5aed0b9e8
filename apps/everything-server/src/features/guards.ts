/** Middleware around every request: who did what, how much of it, for how long, and with whose consent. */
import { approve, audit, rateLimit, type Server, timeout } from '@mcpx/server'

export function addGuards(server: Server): void {
  const entries: string[] = []
  server
    .use(
      audit(({ method, target, outcome }) => {
        entries.push(`${method} ${target ?? ''} ${outcome}`)
        if (entries.length > 100) entries.shift()
      }),
    )
    .use(rateLimit({ limit: 100_000, windowMs: 60_000 }))
    .use(timeout(60_000))
    .use(approve({ when: (tool) => tool.annotations?.destructiveHint }))
    .tool('audit_log', { description: 'The last requests' }, () => entries.join('\n'))
    .tool('erase', { description: 'Runs with consent only', annotations: { destructiveHint: true } }, () => 'Erased.')
}
