/** An extension of the protocol: callers have credits, and tools with the option `cost` use them up. */
import { defineMethod, defineSubscription, RpcError, type ServerExtension } from '@mcpx/server'
import { credits as contract } from './contract.ts'

/** The error code of a caller without credits. */
export const NO_CREDITS = -32060

const { 'com.example/credits/get': get, 'com.example/credits/buy': buy } = contract.methods

declare module '@mcpx/server' {
  interface ExtensionToolOptions {
    /** The number of credits that a call costs. Default: 0. */
    cost?: number | undefined
  }
}

/** The account of one group of callers. A real server would store accounts in a database, by `ctx.auth`. */
export interface Account {
  balance: number
}

/** Creates the extension. All its members are declared here; none of the packages had to be changed. */
export function credits(account: Account): ServerExtension {
  const listeners = new Set<() => Promise<void>>()

  function add(amount: number): void {
    account.balance += amount
    for (const listener of listeners) void listener()
  }

  return {
    id: contract.id,
    settings: { currency: 'stars' },
    errorCodes: [NO_CREDITS],
    methods: {
      'com.example/credits/get': defineMethod({ ...get, cacheable: true }, () => ({ balance: account.balance })),
      'com.example/credits/buy': defineMethod({ ...buy, requiresDeclaration: true }, ({ amount }) => {
        add(amount)
        return { balance: account.balance }
      }),
    },
    notifications: ['notifications/com.example/credits/changed'],
    subscriptions: {
      credits: defineSubscription(
        { value: contract.subscriptions.credits, requiresDeclaration: true },
        (_, { notify }) => {
          let isSending = false
          const listener = async () => {
            // Only the newest balance matters: while one notification is sent, further changes are combined.
            if (isSending) return
            isSending = true
            await notify('notifications/com.example/credits/changed', { balance: account.balance })
            isSending = false
          }
          listeners.add(listener)
          return { acknowledged: true, close: () => void listeners.delete(listener) }
        },
      ),
    },
    toolOptions: {
      cost: {
        check: (cost) => (Number.isInteger(cost) && Number(cost) > 0 ? undefined : 'expected a whole number from 1 on'),
        define: (tool, cost) => ({ ...tool, _meta: { ...tool._meta, 'com.example/cost': cost } }),
      },
    },
    install: (host) => ({
      middleware(request, ctx, next) {
        if (request.method !== 'tools/call') return next()
        const { cost = 0 } = host.toolOptions(String(request.params.name), ctx) ?? {}
        if (cost > account.balance)
          throw new RpcError(NO_CREDITS, `The call costs ${cost}, you have ${account.balance}`)
        if (cost > 0) add(-cost)
        return next()
      },
    }),
  }
}
