/** Repeated requests, and responses that are repeated, late, or on the stream of another request. */

import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, connect as dialTcp } from 'node:net'
import { createInterface } from 'node:readline'
import type { Connection } from '@mcpx/protocol'
import { delay } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { overStreams } from '@mcpx/transport-stdio'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { handshake, modern, silent } from './connections.fixture.ts'
import { type Host, killHosts, startHost } from './hosts.fixture.ts'
import { dial, openSession, raw, rawCall, rawLegacy, rawModern } from './sockets.fixture.ts'

vi.setConfig({ testTimeout: 20_000 })

let host: Host
beforeAll(async () => {
  host = await startHost()
})
afterAll(killHosts)

describe('a request that is posted twice', () => {
  it('is answered twice in the modern era', async () => {
    const text = rawCall(rawModern, 7, 'count', { times: 1, pause: 50 })
    const dialled = await Promise.all([dial(host.port), dial(host.port)])
    for (const { socket } of dialled) socket.write(text)
    for (const { until, socket } of dialled) {
      expect(await until(/"result"/)).toContain('"id":7')
      socket.destroy()
    }
  })

  it('is rejected in a session while the first one runs, which completes normally', async () => {
    const rawEra = rawLegacy(await openSession(host.url))
    const text = rawCall(rawEra, 7, 'count', { times: 3, pause: 40 }, { progressToken: 't' })
    const { calls } = await host.look()
    const [first, second] = await Promise.all([dial(host.port), dial(host.port)])
    first.socket.write(text)
    await first.until(/"progress":1/)
    second.socket.write(text)
    expect(await second.until(/in flight/)).toMatch(/^HTTP\/1\.1 400/)
    expect((await first.until(/"result"/)).match(/"method":"notifications\/progress"/g)).toHaveLength(3)
    expect((await host.look()).calls).toBe(calls + 1)
    for (const { socket } of [first, second]) socket.destroy()
  })

  it('deletes a session once: later DELETE requests return 404', async () => {
    const session = await openSession(host.url)
    const end = () => fetch(host.url, { method: 'DELETE', headers: { 'mcp-session-id': session } })
    const statuses = (await Promise.all([end(), end()])).map(({ status }) => status).sort()
    expect([
      [204, 204],
      [204, 404],
    ]).toContainEqual(statuses)
    expect((await end()).status).toBe(404)
  })

  it('answers an input request once: repeated responses are accepted and ignored', async () => {
    const session = await openSession(host.url, { elicitation: {} })
    const rawEra = rawLegacy(session)
    const [asking, answering] = await Promise.all([dial(host.port), dial(host.port)])
    asking.socket.write(rawCall(rawEra, 1, 'ask'))
    const id = /"id":("[^"]+"),"method":"elicitation\/create"/.exec(await asking.until(/elicitation\/create/))?.[1]
    const answer = (action: string) =>
      raw(`{"jsonrpc":"2.0","id":${id},"result":{"action":"${action}"}}`, rawEra.headers(''))
    answering.socket.write(answer('decline') + answer('cancel') + answer('decline'))
    expect((await answering.until(/(?:1\.1 202[\s\S]*){3}/)).match(/HTTP\/1\.1 202/g)).toHaveLength(3)
    expect(await asking.until(/received by/)).toContain('decline received by')
    for (const { socket } of [asking, answering]) socket.destroy()
  })
})

/** Collects the given number of ids, then calls `answer` with all of them. */
function collect(count: number, answer: (ids: number[]) => void): (id: number) => void {
  const ids: number[] = []
  return (id) => {
    if (ids.push(id) === count) answer(ids)
  }
}

const resultOf = (id: number) => ({ jsonrpc: '2.0', id, result: { value: id } })

async function sendTen(connection: Connection, params: object): Promise<void> {
  const calls = Array.from({ length: 10 }, (_, n) => connection.request(`m-${n}`, params, { timeout: 5_000 }))
  const values = (await Promise.all(calls)).map((result) => (result as { value: number }).value)
  expect(values).toEqual([...values].sort((a, b) => a - b))
  expect(new Set(values).size).toBe(10)
}

describe('responses in any order', () => {
  it('are matched to their requests over stdio; repeated and unknown ones cause warnings', async () => {
    const server = createTcpServer((socket) => {
      const write = (message: object) => void socket.write(`${JSON.stringify(message)}\n`)
      const collectId = collect(10, (ids) => {
        for (const id of [...ids].reverse()) write(resultOf(id))
        write(resultOf(ids[3] as number))
        write(resultOf(4_711))
      })
      const lines = createInterface(socket).on('line', (line) => collectId(JSON.parse(line).id))
      for (const each of [socket, lines]) each.on('error', () => {})
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const warnings: Error[] = []
    const connection = await overStreams(() => {
      const socket = dialTcp((server.address() as AddressInfo).port, '127.0.0.1')
      return { input: socket, output: socket }
    }).connect({ ...silent, onWarning: (problem) => void warnings.push(problem) })
    await sendTen(connection, {})
    while (warnings.length < 2) await delay(5)
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining('was already answered, cancelled or timed out'),
      expect.stringContaining('no request with this id was sent'),
    ])
    await connection.close()
  })

  it.each(['modern', 'legacy'] as const)(
    'are matched to their requests over HTTP in the %s era, also on the stream of another request',
    async (era) => {
      const waiting: ServerResponse[] = []
      const collectId = collect(10, (ids) => {
        // Each stream carries the response of the next request twice, then its own.
        for (const [n, response] of waiting.entries()) {
          for (const id of [ids[(n + 1) % 10], ids[(n + 1) % 10], ids[n]] as number[]) {
            response.write(`data: ${JSON.stringify(resultOf(id))}\n\n`)
          }
          response.end()
        }
      })
      const url = await servePeer((message, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
        waiting.push(response)
        collectId(message.id)
      })
      const warnings: Error[] = []
      const connection = await http(url).connect({ ...silent, onWarning: (problem) => void warnings.push(problem) })
      if (era === 'legacy') await connection.request('initialize', handshake(), { announceCancel: false })
      await sendTen(connection, era === 'legacy' ? {} : modern())
      await delay(50)
      expect(warnings).not.toEqual([])
      for (const warning of warnings) expect(warning).toMatchObject({ name: 'ConnectionError', reason: 'unmatched' })
      await connection.close()
    },
  )
})

interface Received {
  readonly id: number
  readonly method: string
}

/** An HTTP server that answers the handshake and passes all other requests to `answer`. */
async function servePeer(answer: (message: Received, response: ServerResponse) => void): Promise<string> {
  const server = createHttpServer(async (request: IncomingMessage, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const message = (text === '' ? {} : JSON.parse(text)) as Received
    if (message.id === undefined) return void response.writeHead(request.method === 'POST' ? 202 : 405).end()
    if (message.method !== 'initialize') return answer(message, response)
    const result = { ...handshake(), serverInfo: { name: 'peer', version: '1' } }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}
