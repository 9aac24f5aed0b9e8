/**
 * Loaded before a server that is told no address: it listens on the loopback alone, on any port that is free, and the
 * port is said on standard error. `node --import ./loopback.ts server.js`
 */

import { type AddressInfo, Server } from 'node:net'

const listen = Server.prototype.listen

Server.prototype.listen = function onLoopback(this: Server, ...args: unknown[]) {
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
