/**
 * Has the runtime's own `fetch` wait for what is silent for long. Those of Node and Bun give up after 300 s, whatever
 * the caller would wait; how long a call may take is for the client to say.
 */

/** Where copies of undici, Node's own one among them, find what sends the requests of `fetch`. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

/** As much of undici's `Dispatcher` as is used: https://undici.nodejs.org/#/docs/api/Dispatcher. */
interface Dispatcher {
  compose?(interceptor: (dispatch: Dispatch) => Dispatch): Dispatcher
}
type Dispatch = (options: object, handler: unknown) => unknown

/** What was made of each dispatcher: the one of all requests can be replaced at any time. */
const made = new WeakMap<Dispatcher, Dispatcher>()

/** What `fetch` is to be passed; what the user passes comes before it. */
export function patience(): object {
  if ('Bun' in globalThis) return { timeout: false }
  const used = (globalThis as { [DISPATCHER]?: Dispatcher })[DISPATCHER]
  if (typeof used?.compose !== 'function') return {}
  const dispatcher = made.get(used) ?? used.compose(waiting)
  made.set(used, dispatcher)
  return { dispatcher }
}

function waiting(dispatch: Dispatch): Dispatch {
  return (options, handler) => dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler)
}
