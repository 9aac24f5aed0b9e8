/**
 * Loaded before the suite: what listens on all interfaces listens on the loopback address instead. The suite asks for
 * the address right after `listen`, so it has to be known at once; a host name given to `listen` would be looked up first.
 */
import { Server } from 'node:net'

const { _listen2: bind } = Server.prototype

Server.prototype._listen2 = function (address, port, addressType, ...rest) {
  const isEverywhere = address === null || address === '0.0.0.0' || address === '::'
  return isEverywhere
    ? bind.call(this, '127.0.0.1', port, 4, ...rest)
    : bind.call(this, address, port, addressType, ...rest)
}
