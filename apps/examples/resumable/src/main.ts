/** Loses the stream of a running call and receives the remaining events after resuming. `npm start` */
import { strict as assert } from 'node:assert'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { createFlakyNetwork } from './flaky-fetch.ts'
import { server } from './server.ts'

const { url, close } = await serveHttp(server, {
  port: 0,
  // The events of a session are stored, by default in memory, and sent again after the last event that a client received.
  // `retry` tells clients how long to wait before they reconnect, in milliseconds.
  sessions: { retry: 50 },
})

// Only a session can be resumed, and sessions exist only in the legacy era. The client resumes automatically.
const network = createFlakyNetwork()
await using cook = await connect(http(url, { fetch: network.fetch, reconnect: { minDelay: 20 } }), { era: 'legacy' })
const progress: number[] = []
const cake = await cook.callTool('bake', { minutes: 5 }, { onProgress: (event) => progress.push(event.progress) })
assert.deepEqual(cake.content, [{ type: 'text', text: 'A cake' }])
assert.deepEqual(progress, [1, 2, 3, 4, 5]) // each once, in order
assert.deepEqual([network.cuts, network.resumed.length], [1, 1])
console.log(`${cook.revision}: the connection was cut after 2 of 5 and resumed; progress ${progress.join(', ')}`)

// A server may close the stream on purpose, so that no connection stays open during a long call.
const cheese = await cook.callTool('ripen')
assert.deepEqual(cheese.content, [{ type: 'text', text: 'A cheese' }])
assert.ok(network.resumed.length >= 2)
console.log(`${cook.revision}: the server closed the stream, and the client reconnected for the answer`)

// Modern streams cannot be resumed: the call fails, and the error says whether it may be retried. A modern server uses
// a task for long-running work.
const secondNetwork = createFlakyNetwork()
await using modernCook = await connect(http(url, { fetch: secondNetwork.fetch }))
const call = modernCook.callTool('bake', { minutes: 5 }, { onProgress: () => {} })
await assert.rejects(call, { name: 'ConnectionError', retryable: false })
assert.deepEqual(secondNetwork.resumed, [])
console.log(`${modernCook.revision}: the call failed with its connection`)

await close()
console.log('ok')
