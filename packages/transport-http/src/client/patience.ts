/**
 * Has the runtime's own `fetch` wait for what is silent for long. Those of Node and Bun give up after 300 s, whatever
 * the caller would wait; how long a call may take is for the client to say.
 */

/** As much of undici's `Dispatcher` as is used: https://undici.nodejs.org/#/docs/api/Dispatcher. */
interface Dispatcher {
  readonly isMockActive?: boolean
  dispatch(options: object, handler: object): unknown
}

/** Where copies of undici, Node's own one among them, find what sends the requests of `fetch`; the second for newer handlers. */
const FIRST = Symbol.for('undici.globalDispatcher.1')
const SECOND = Symbol.for('undici.globalDispatcher.2')
const runtime = globalThis as { readonly [FIRST]?: Dispatcher; readonly [SECOND]?: Dispatcher }

/** Hands each request to what would have had it anyway, which can be replaced at any time. */
const dispatcher: Dispatcher = {
  get isMockActive() {
    return (runtime[SECOND] ?? runtime[FIRST])?.isMockActive === true
  },
  dispatch(options, handler) {
    const used = 'onRequestStart' in handler ? (runtime[SECOND] ?? runtime[FIRST]) : runtime[FIRST]
    return used?.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler)
  },
}

/**
 * What `fetch` is to be passed; what the user passes comes before it. To be asked when the headers of the request are
 * made: Node has nothing that sends before a process has used `fetch` or one of its classes, of which `Headers` is one.
 */
export function patience(): object {
  if ('Bun' in globalThis) return { timeout: false }
  return runtime[FIRST] === undefined ? {} : { dispatcher }
}
