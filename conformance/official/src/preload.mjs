/** Loaded by NODE_OPTIONS before the suite and before the clients that it starts. */
import { writeSync } from 'node:fs'
import { Server } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { overrideRevision, recordRevisions } from './record-revisions.mjs'

/** The timeout of idle connections, in milliseconds; longer than a client may run. */
const KEEP_ALIVE_TIMEOUT = 90_000

if (process.env.MCP_CONFORMANCE_SCENARIO === undefined) {
  listenOnLoopback()
  reportStalls()
  recordRevisions(2)
  if (process.env.CONFORMANCE_WIRE !== undefined) overrideRevision(process.env.CONFORMANCE_WIRE)
} else {
  // stderr is reserved for errors, so the revisions go to stdout.
  recordRevisions(1)
  // Deprecated features are tested too, and any output on stderr counts as a failure.
  process.noDeprecation = true
  // The suite ignores the exit code of clients.
  process.on('exit', (code) => code !== 0 && writeSync(2, `exited with code ${code}\n`))
}

/** Makes servers that listen on all interfaces listen on 127.0.0.1. The suite reads the address right after `listen`, so a
 * host name, which is resolved asynchronously, would not work.
 */
function listenOnLoopback() {
  const { _listen2: bind } = Server.prototype
  Server.prototype._listen2 = function (address, port, addressType, ...rest) {
    // With the default of five seconds a slow client would lose its connection and its next request.
    if ('keepAliveTimeout' in this) this.keepAliveTimeout = KEEP_ALIVE_TIMEOUT
    const isEverywhere = address === null || address === '0.0.0.0' || address === '::'
    return isEverywhere
      ? bind.call(this, '127.0.0.1', port, 4, ...rest)
      : bind.call(this, address, port, addressType, ...rest)
  }
}

/** Prints at the exit the longest stall of the event loop. */
function reportStalls() {
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  process.on('exit', () => writeSync(2, `\nstalled for ${Math.round(delay.max / 1e6)} ms\n`))
}
