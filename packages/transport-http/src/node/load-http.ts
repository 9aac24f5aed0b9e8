/** Node's HTTP, loaded when something is served, and without what an import of it brings along. */

type Http = typeof import('node:http')

/**
 * An import reads every member of a module of Node. One of `node:http` is the whole client behind `WebSocket`, which takes
 * ten times as long to load as the server (https://github.com/nodejs/node/issues/59686).
 */
export async function loadHttp(): Promise<Http> {
  return process.getBuiltinModule?.('node:http') ?? import('node:http')
}
