import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { closeIdleConnections, OpenResponses } from './broken-requests.ts'

const KEEP_ALIVE = 300
const REQUEST = 'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'

/** Sends a request, and after its response another one, 100 ms later. Posts the text of all responses. */
const client = `
  const { connect } = require('node:net')
  const { parentPort, workerData } = require('node:worker_threads')
  const socket = connect(workerData.port, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => {
    if (text === '') setTimeout(() => socket.write(workerData.request), 100)
    text += chunk
    if (text.includes('answer 2')) parentPort.postMessage(text)
  })
  socket.on('error', (error) => parentPort.postMessage(error.code))
  socket.on('close', () => parentPort.postMessage(text + ' closed'))
  socket.write(workerData.request)
`

async function start(onRequest: (count: number) => void) {
  const unsent = new OpenResponses()
  let count = 0
  const http = createServer(
    { keepAliveTimeout: KEEP_ALIVE, keepAliveTimeoutBuffer: 0 } as object,
    (incoming, outgoing) => {
      unsent.add(incoming.socket, outgoing)
      count += 1
      outgoing.end(`answer ${count}`)
      onRequest(count)
    },
  )
  closeIdleConnections(http, unsent)
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(() => void http.close().closeAllConnections())
  return (http.address() as AddressInfo).port
}

const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

describe('an idle connection', () => {
  it('is closed', async () => {
    const socket = connect(await start(() => {}), '127.0.0.1').resume()
    socket.write(REQUEST)
    await once(socket, 'close')
  })

  it('is not closed if a request has arrived while a handler blocked the event loop', async () => {
    const port = await start((count) => {
      // The response is written first.
      if (count === 1) setImmediate(() => block(4 * KEEP_ALIVE))
    })
    const worker = new Worker(client, { eval: true, workerData: { port, request: REQUEST } })
    onTestFinished(async () => void (await worker.terminate()))
    const [text] = await once(worker, 'message')
    expect(text).toContain('answer 2')
  })
})
