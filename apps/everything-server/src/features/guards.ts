/** Middleware around every request: audit, rate limits, timeout and approval. */
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

const outcomeNames: Readonly<Record<number, string>> = { [RATE_LIMITED]: 'too many', [TIMED_OUT]: 'too slow' }

export function addGuards(server: Server): void {
  const entries: string[] = []
  // Several processes that serve one endpoint share a store.
  const store = createMemoryCounterStore({ maxKeys: 1_000 })
  server
    .use(
      audit(
        ({ method, target, outcome, errorCode, arguments: args }) => {
          const result = outcomeNames[errorCode ?? 0] ?? outcome
          entries.push(`${method} ${target ?? ''} ${result} ${JSON.stringify(args ?? {})}`)
          if (entries.length > 100) entries.shift()
        },
        {
          isSecret: (key) => looksSecret(key) || key === 'email',
          maxLength: 1_000,
          onError: (error, { method }) => console.error(`the audit entry of ${method} could not be written:`, error),
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
    // Approves by the scopes of the caller instead of asking the user.
    .use(
      approve({
        when: ({ name }) => name === 'pay',
        ask: (_, { auth }) => auth?.scopes.includes('admin') ?? false,
        key: 'permission to pay',
      }),
    )
    .tool('audit_log', { description: 'Returns the last requests' }, () => entries.join('\n'))
    .tool(
      'scarce',
      { description: 'May be called three times a minute by all clients together' },
      () => 'Here you are.',
    )
    .tool(
      'erase',
      { description: 'Runs only if the user approves', annotations: { destructiveHint: true } },
      () => 'Erased.',
    )
    .tool('pay', { description: 'Runs only for admins, without asking the user' }, () => 'Paid.')
}
