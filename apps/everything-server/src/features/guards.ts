/** Middleware around every request: who did what, how much of it, for how long, and with whose consent. */
import {
  approve,
  audit,
  createMemoryCounterStore,
  looksSecret,
  RATE_LIMITED,
  rateLimit,
  type Server,
  TIMED_OUT,
  timeout,
} from '@mcpx/server'

const words: Readonly<Record<number, string>> = { [RATE_LIMITED]: 'too many', [TIMED_OUT]: 'too slow' }

export function addGuards(server: Server): void {
  const entries: string[] = []
  // Where several processes serve one endpoint, they share a store.
  const store = createMemoryCounterStore({ maxKeys: 1_000 })
  server
    .use(
      audit(
        ({ method, target, outcome, errorCode, arguments: given }) => {
          const how = words[errorCode ?? 0] ?? outcome
          entries.push(`${method} ${target ?? ''} ${how} ${JSON.stringify(given ?? {})}`)
          if (entries.length > 100) entries.shift()
        },
        {
          isSecret: (key) => looksSecret(key) || key === 'email',
          maxLength: 1_000,
          onError: (error, { method }) => console.error(`no entry was written for ${method}:`, error),
        },
      ),
    )
    .use(rateLimit({ limit: 100_000, window: 60_000, store }))
    .use(
      rateLimit({
        limit: 3,
        window: 60_000,
        store,
        key: ({ params }) => (params.name === 'scarce' ? 'scarce' : undefined),
      }),
    )
    .use(timeout(60_000))
    .use(
      approve({
        when: (tool) => tool.annotations?.destructiveHint,
        message: (tool) => `${tool.name} cannot be undone. Go on?`,
        key: 'consent',
      }),
    )
    // Not everything is for the user to decide: here the scopes of the caller do.
    .use(
      approve({
        when: ({ name }) => name === 'pay',
        ask: (_, { auth }) => auth?.scopes.includes('admin') ?? false,
        key: 'permission to pay',
      }),
    )
    .tool('audit_log', { description: 'The last requests' }, () => entries.join('\n'))
    .tool('scarce', { description: 'Three times a minute, for all together' }, () => 'Here you are.')
    .tool('erase', { description: 'Runs with consent only', annotations: { destructiveHint: true } }, () => 'Erased.')
    .tool('pay', { description: 'Runs when an admin calls it, and nobody is asked' }, () => 'Paid.')
}
