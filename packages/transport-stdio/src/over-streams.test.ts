import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Server } from 'node:net'
import { catchError, describeContract, requesterContract } from '@mcpx/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { serveStdio } from './serve.ts'
import { createStreamChannel, overStreams } from './stream-channel.ts'

const servers: Server[] = []
const silent = { responder: { respond: () => undefined }, onWarning: () => {} }
afterAll(() => {
  for (const server of servers) server.close()
})

async function listen(responder: Parameters<typeof serveStdio>[0]): Promise<number> {
  const server = createServer(
    (socket) => void serveStdio(responder, { input: socket, output: socket, drainTimeout: 0 }),
  )
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function open(port: number) {
  const socket = dial(port, '127.0.0.1')
  return { input: socket, output: socket }
}

describeContract(
  'a connector over a socket',
  requesterContract(async (responder) => {
    const port = await listen(responder)
    return overStreams(() => open(port)).connect(silent)
  }),
  { describe, it },
)

it('shows its messages to an observer of the client, and to the debug option of the server', async () => {
  const lines: string[] = []
  const responder: Parameters<typeof serveStdio>[0] = {
    respond: (message) => ('id' in message ? { jsonrpc: '2.0', id: message.id, result: {} } : undefined),
  }
  const server = createServer((socket) => {
    void serveStdio(responder, { input: socket, output: socket, debug: (line) => void lines.push(line) })
  })
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  const connector = overStreams(() => open((server.address() as AddressInfo).port))
  const seen: string[] = []
  const connection = await connector.connect({ ...silent, onMessage: (direction) => void seen.push(direction) })
  await connection.request('ping')
  await connection.close()
  expect(seen).toEqual(['out', 'in'])
  expect(lines).toEqual([
    'mcpx server <- {"jsonrpc":"2.0","id":1,"method":"ping"}',
    'mcpx server -> {"jsonrpc":"2.0","id":1,"result":{}}',
  ])
})

it('opens new streams for each connection', async () => {
  const port = await listen({ respond: () => undefined })
  let opened = 0
  const connector = overStreams(
    () => {
      opened += 1
      return open(port)
    },
    { peer: 'desk', probeTimeout: 9 },
  )
  for (const count of [1, 2]) {
    const connection = await connector.connect(silent)
    expect(opened).toBe(count)
    await connection.close()
  }
  expect(connector).toMatchObject({ peer: 'desk', probeTimeout: 9 })
})

it('rejects requests with `unreachable` and the cause when no connection can be made', async () => {
  const port = await listen({ respond: () => undefined })
  for (const server of servers) server.close()
  const connection = await overStreams(() => open(port)).connect(silent)
  const error = await catchError(() => connection.request('m'))
  expect(error).toMatchObject({ name: 'ConnectionError', reason: 'unreachable', cause: { code: 'ECONNREFUSED' } })
  await connection.close()
})

it('resolves `closed` before pending requests are rejected, whoever ended the connection', async () => {
  for (const end of ['end', 'resetAndDestroy'] as const) {
    const server = createServer((socket) => void socket.once('data', () => socket[end]())).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    const connection = await overStreams(() => open((server.address() as AddressInfo).port)).connect(silent)
    const seen: string[] = []
    const closed = connection.closed.then((reason) => void seen.push(`closed: ${reason?.reason}`))
    const waiting = catchError(() => connection.request('m')).then(() => void seen.push('rejected'))
    await Promise.all([closed, waiting])
    expect(seen).toEqual([end === 'end' ? 'closed: undefined' : 'closed: closed', 'rejected'])
    await connection.close()
  }
})

it('refuses options that do not exist or are no numbers', () => {
  const streams = { input: process.stdin, output: process.stdout }
  const options = { probeTimout: 1 } as object
  expect(() => overStreams(() => streams, options)).toThrow(
    'overStreams: there is no option "probeTimout"; did you mean "probeTimeout"?',
  )
  expect(() => createStreamChannel({ ...streams, ...options })).toThrow('createStreamChannel: there is no option')
  for (const name of ['maxUnsent', 'flushTimeout']) {
    const invalid = { [name]: Number.NaN }
    expect(() => overStreams(() => streams, invalid)).toThrow(`overStreams: ${name}: expected a number from 0, got NaN`)
    expect(() => createStreamChannel({ ...streams, ...invalid })).toThrow(RangeError)
  }
})
