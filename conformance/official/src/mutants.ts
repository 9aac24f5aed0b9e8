/** Mutants of the server that the suite must notice. Each mutant wraps the server or its HTTP handler. */
import type { Exchange, JsonObject, Responder } from '@mcpx/protocol'

export type Fetch = (request: Request) => Response | Promise<Response>

export interface Mutant {
  readonly name: string
  /** The scenario that notices the mutant. */
  readonly scenario: string
  /** The check that fails. */
  readonly check: string
  /** Further checks that fail by the same defect. Other failures are unexpected. */
  readonly also?: readonly string[]
  readonly breakServer?: (server: Responder) => Responder
  readonly breakHttp?: (fetch: Fetch) => Fetch
}

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'

export const mutants: readonly Mutant[] = [
  {
    name: 'answers every error with the status 200',
    scenario: 'server-stateless',
    check: 'sep-2575-http-server-method-not-found-404',
    also: [
      'sep-2575-http-server-meta-invalid-400',
      'sep-2575-http-server-unsupported-version-400',
      'sep-2575-http-server-header-mismatch-400',
      'sep-2575-missing-capability-http-400',
      ...['initialize', 'ping', 'logging-setlevel', 'resources-subscribe', 'resources-unsubscribe'].map(
        (method) => `sep-2575-http-server-method-not-found-404-${method}`,
      ),
    ],
    breakHttp: (fetch) => async (request) => {
      const response = await fetch(request)
      return response.ok ? response : new Response(response.body, { headers: response.headers })
    },
  },
  {
    name: 'does not acknowledge subscriptions',
    scenario: 'server-stateless',
    check: 'sep-2575-server-sends-subscription-ack',
    // The suite waits for the acknowledgement before it triggers changes.
    also: [
      'sep-2575-server-tags-subscription-id',
      'sep-2575-server-honors-notification-filter',
      'sep-2575-server-sends-prompts-list-changed-on-subscription',
      'sep-2575-server-sends-tools-list-changed-on-subscription',
    ],
    breakServer: (server) =>
      changeNotifications(server, (method, params) =>
        method === 'notifications/subscriptions/acknowledged' ? undefined : { method, params },
      ),
  },
  {
    name: 'omits the subscription id of notifications',
    scenario: 'server-stateless',
    check: 'sep-2575-server-tags-subscription-id',
    breakServer: (server) =>
      changeNotifications(server, (method, params) => {
        const { [SUBSCRIPTION]: _, ...meta } = (params?._meta ?? {}) as JsonObject
        return { method, params: { ...params, _meta: meta } }
      }),
  },
  {
    name: 'accepts an altered request state',
    scenario: 'input-required-result-tampered-state',
    check: 'sep-2322-reject-tampered-state',
    breakServer: withPlainState,
  },
  {
    name: 'logs to clients that did not request it',
    scenario: 'server-stateless',
    check: 'sep-2575-server-no-log-without-loglevel',
    breakServer: (server) =>
      changeParams(server, (params) => ({ ...params, _meta: { ...meta(params), [LOG_LEVEL]: 'debug' } })),
  },
]

const meta = (params: JsonObject) => params._meta as JsonObject

/** Changes or drops the notifications of the server. */
function changeNotifications(
  server: Responder,
  change: (method: string, params?: JsonObject) => { method: string; params?: JsonObject | undefined } | undefined,
): Responder {
  return {
    respond(message, exchange) {
      const notify: Exchange['notify'] = (method, params) => {
        const changed = change(method, params)
        return changed && exchange.notify(changed.method, changed.params)
      }
      return server.respond(message, copyExchange(exchange, notify))
    },
  }
}

/** Copies the exchange without the parsed envelope, so that the server reads it from the message. */
function copyExchange(exchange: Exchange, notify: Exchange['notify']): Exchange {
  const { auth, session, requestInfo } = exchange
  return {
    get signal() {
      return exchange.signal
    },
    auth,
    session,
    requestInfo,
    notify,
  }
}

/** Changes the parameters of modern requests. */
function changeParams(server: Responder, change: (params: JsonObject) => JsonObject): Responder {
  return {
    respond(message, exchange) {
      if (message.params?._meta === undefined) return server.respond(message, exchange)
      const copy = copyExchange(exchange, (method, params) => exchange.notify(method, params))
      return server.respond({ ...message, params: change(message.params) }, copy)
    },
  }
}

/** Replaces the sealed state by a number, and ignores everything that clients append to it. */
function withPlainState(server: Responder): Responder {
  const states: string[] = []
  return {
    async respond(message, exchange) {
      const number = /^state (\d+)/.exec(String(message.params?.requestState))?.[1]
      const params = number === undefined ? message.params : { ...message.params, requestState: states[Number(number)] }
      const answer = await server.respond(params === undefined ? message : { ...message, params }, exchange)
      if (answer === undefined || !('result' in answer)) return answer
      const { requestState, ...result } = answer.result as JsonObject
      if (typeof requestState !== 'string') return answer
      return { ...answer, result: { ...result, requestState: `state ${states.push(requestState) - 1}` } }
    },
  }
}
