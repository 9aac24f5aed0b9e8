/** Loaded before the suite, and before the clients that it starts, by NODE_OPTIONS. */
import { writeSync } from 'node:fs'
import { Server } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { askFor, tellWhatIsSpoken } from './spoken.mjs'

/** How long a connection that rests is kept, in ms: for longer than a client may take in all. */
const PATIENCE = 90_000

if (process.env.MCP_CONFORMANCE_SCENARIO === undefined) {
  stayOnLoopback()
  tellOfStalls()
  tellWhatIsSpoken(2)
  if (process.env.CONFORMANCE_WIRE !== undefined) askFor(process.env.CONFORMANCE_WIRE)
} else {
  // Standard error is for complaints.
  tellWhatIsSpoken(1)
  // What is deprecated is part of what is tested, and what a client writes to standard error is taken for a failure.
  process.noDeprecation = true
  // Nobody else looks at the code that a client ends with.
  process.on('exit', (code) => code !== 0 && writeSync(2, `it ended with code ${code}\n`))
}

/**
 * What listens on all interfaces listens on the loopback address instead. The suite asks for the address right after
 * `listen`, so it has to be known at once; a host name given to `listen` would be looked up first.
 */
function stayOnLoopback() {
  const { _listen2: bind } = Server.prototype
  Server.prototype._listen2 = function (address, port, addressType, ...rest) {
    // A client that got nothing of the machine for five seconds would find its connection closed, and its next request lost.
    if ('keepAliveTimeout' in this) this.keepAliveTimeout = PATIENCE
    const isEverywhere = address === null || address === '0.0.0.0' || address === '::'
    return isEverywhere
      ? bind.call(this, '127.0.0.1', port, 4, ...rest)
      : bind.call(this, address, port, addressType, ...rest)
  }
}

/** Says at the end how long the suite came to nothing because others kept the machine busy. */
function tellOfStalls() {
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  process.on('exit', () => writeSync(2, `\nstalled for ${Math.round(delay.max / 1e6)} ms\n`))
}
