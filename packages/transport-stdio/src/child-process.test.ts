import { spawn as start } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createDuplex } from '@mcpx/protocol'
import { channelContract, describeContract, requesterContract } from '@mcpx/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { ProcessChannel, type ServerProcess } from './child-process.ts'
import { serveStdio } from './serve.ts'
import { folder, leftOver, node, quick } from './servers.fixture.ts'
import { createStreamChannel } from './stream-channel.ts'

afterAll(() => {
  expect(leftOver(), 'processes that are left').toEqual([])
})

/** A socket of this process at the other end of the streams of a child. */
async function openBridge(): Promise<[ServerProcess, Socket]> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const script = `
    const socket = require('node:net').connect({ port: ${port}, host: '127.0.0.1', allowHalfOpen: true })
    process.stdin.pipe(socket).pipe(process.stdout)`
  const child = start(node, ['-e', script], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, MARK: folder },
  })
  const [socket] = (await once(server, 'connection')) as [Socket]
  server.close()
  return [child as ServerProcess, socket]
}

const rest = { command: 'bridge', cwd: folder, stderrLines: () => [], times: quick, onExit: () => {}, report: () => {} }

describeContract(
  'the streams of a child process',
  channelContract(async () => {
    const [child, socket] = await openBridge()
    return [new ProcessChannel({ child, ...rest }), createStreamChannel({ input: socket, output: socket })]
  }),
  { describe, it },
)
describeContract(
  'a duplex to a child process',
  requesterContract(async (responder) => {
    const [child, socket] = await openBridge()
    void serveStdio(responder, { input: socket, output: socket, drainTimeout: 0 })
    return createDuplex(new ProcessChannel({ child, ...rest }))
  }),
  { describe, it },
)
