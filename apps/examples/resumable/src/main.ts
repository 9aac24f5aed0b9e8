/** Loses a stream in the middle of a call, and hears the rest of it all the same. `npm start` */
import { strict as assert } from 'node:assert'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { createFlakyNetwork } from './flaky-fetch.ts'
import { server } from './server.ts'

const { url, close } = await serveHttp(server, {
  port: 0,
  // What was sent in a session is kept, by default in memory, and can be sent again to a client that names the last
  // event it had. `retry` is how long, in ms, it is told to wait before it comes back.
  sessions: { retry: 50 },
})

// Sessions, and with them streams that can be resumed, are of the older revisions. It takes nothing on the client's side.
const network = createFlakyNetwork()
await using cook = await connect(http(url, { fetch: network.fetch, reconnect: { minDelay: 20 } }), { era: 'legacy' })
const heard: number[] = []
const cake = await cook.callTool('bake', { minutes: 5 }, { onProgress: ({ progress }) => heard.push(progress) })
assert.deepEqual(cake.content, [{ type: 'text', text: 'A cake' }])
assert.deepEqual(heard, [1, 2, 3, 4, 5]) // each once, in order
assert.deepEqual([network.cuts, network.resumed.length], [1, 1])
console.log(`${cook.revision}: the line was cut after 2 of 5; resumed; heard ${heard.join(', ')}`)

// A server lets a connection go on purpose: nothing is held open while it works.
const cheese = await cook.callTool('ripen')
assert.deepEqual(cheese.content, [{ type: 'text', text: 'A cheese' }])
assert.ok(network.resumed.length >= 2)
console.log(`${cook.revision}: the server let the line go, and the client came back for the answer`)

// In the newest revision nothing is resumed: a call whose line is cut has failed, and the error says whether it may
// be made again. What has to outlive a connection there is for the server to keep, under a handle of its own.
const other = createFlakyNetwork()
await using guest = await connect(http(url, { fetch: other.fetch }))
const call = guest.callTool('bake', { minutes: 5 }, { onProgress: () => {} })
await assert.rejects(call, { name: 'ConnectionError', retryable: false })
assert.deepEqual(other.resumed, [])
console.log(`${guest.revision}: the call failed with its line`)

await close()
console.log('ok')
