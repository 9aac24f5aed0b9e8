/** Makes a server listen on a free port of 127.0.0.1 only, and prints the port on stderr.
 * `node --import ./loopback.ts server.js`
 */

import { type AddressInfo, Server } from 'node:net'

const listen = Server.prototype.listen

Server.prototype.listen = function listenOnLoopback(this: Server, ...args: unknown[]) {
  const done = args.find((arg) => typeof arg === 'function') as (() => void) | undefined
  return Reflect.apply(listen, this, [
    0,
    '127.0.0.1',
    () => {
      process.stderr.write(`listening on ${(this.address() as AddressInfo).port}\n`)
      done?.()
    },
  ])
}
