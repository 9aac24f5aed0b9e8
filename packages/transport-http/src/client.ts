/** How a client reaches a server over HTTP. */

export { http } from './client/http.ts'
export type { AuthTarget, Fetch, HttpOptions, ReconnectOptions } from './client/options.ts'
