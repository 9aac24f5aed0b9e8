/** Requests that come twice, answers that come twice, late, or on the stream of another request. */

import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, connect as dialTcp } from 'node:net'
import { createInterface } from 'node:readline'
import type { Connection } from '@mcpx/protocol'
import { delay } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { overStreams } from '@mcpx/transport-stdio'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { handshake, modern, silent } from './carriers.fixture.ts'
import { endHosts, type Host, startHost } from './hosts.fixture.ts'
import { dial, openSession, raw, rawCall, spokenLegacy, spokenModern } from './sockets.fixture.ts'

vi.setConfig({ testTimeout: 20_000 })

let host: Host
beforeAll(async () => {
  host = await startHost()
})
afterAll(endHosts)

describe('a request that is posted twice', () => {
  it('is answered twice in the modern era, where each stands alone', async () => {
    const text = rawCall(spokenModern, 7, 'count', { times: 1, pause: 50 })
    const dialled = await Promise.all([dial(host.port), dial(host.port)])
    for (const { socket } of dialled) socket.write(text)
    for (const { until, socket } of dialled) {
      expect(await until(/"result"/)).toContain('"id":7')
      socket.destroy()
    }
  })

  it('is refused in a session while the first of them runs, whose answer comes as if nothing had been', async () => {
    const spoken = spokenLegacy(await openSession(host.url))
    const text = rawCall(spoken, 7, 'count', { times: 3, pause: 40 }, { progressToken: 't' })
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

  it('ends a session once: the second DELETE finds none, and neither does what comes later', async () => {
    const session = await openSession(host.url)
    const end = () => fetch(host.url, { method: 'DELETE', headers: { 'mcp-session-id': session } })
    const statuses = (await Promise.all([end(), end()])).map(({ status }) => status).sort()
    expect([
      [204, 204],
      [204, 404],
    ]).toContainEqual(statuses)
    expect((await end()).status).toBe(404)
  })

  it('answers a question once: the answer that comes again is taken and changes nothing', async () => {
    const session = await openSession(host.url, { elicitation: {} })
    const spoken = spokenLegacy(session)
    const [asking, answering] = await Promise.all([dial(host.port), dial(host.port)])
    asking.socket.write(rawCall(spoken, 1, 'ask'))
    const id = /"id":("[^"]+"),"method":"elicitation\/create"/.exec(await asking.until(/elicitation\/create/))?.[1]
    const answer = (action: string) =>
      raw(`{"jsonrpc":"2.0","id":${id},"result":{"action":"${action}"}}`, spoken.headers(''))
    answering.socket.write(answer('decline') + answer('cancel') + answer('decline'))
    expect((await answering.until(/(?:1\.1 202[\s\S]*){3}/)).match(/HTTP\/1\.1 202/g)).toHaveLength(3)
    expect(await asking.until(/heard by/)).toContain('decline heard by')
    for (const { socket } of [asking, answering]) socket.destroy()
  })
})

/** Collects ten requests, then has them answered as it is told to. */
function collect(count: number, answer: (ids: number[]) => void): (id: number) => void {
  const ids: number[] = []
  return (id) => {
    if (ids.push(id) === count) answer(ids)
  }
}

const resultOf = (id: number) => ({ jsonrpc: '2.0', id, result: { value: id } })

async function askTen(connection: Connection, params: object): Promise<void> {
  const calls = Array.from({ length: 10 }, (_, n) => connection.request(`m-${n}`, params, { timeout: 5_000 }))
  const values = (await Promise.all(calls)).map((result) => (result as { value: number }).value)
  expect(values).toEqual([...values].sort((a, b) => a - b))
  expect(new Set(values).size).toBe(10)
}

describe('answers in any order', () => {
  it('find their requests on a pipe; what was answered already, or never asked, is reported', async () => {
    const server = createTcpServer((socket) => {
      const write = (message: object) => void socket.write(`${JSON.stringify(message)}\n`)
      const take = collect(10, (ids) => {
        for (const id of [...ids].reverse()) write(resultOf(id))
        write(resultOf(ids[3] as number))
        write(resultOf(4_711))
      })
      const lines = createInterface(socket).on('line', (line) => take(JSON.parse(line).id))
      for (const each of [socket, lines]) each.on('error', () => {})
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const reports: Error[] = []
    const connection = await overStreams(() => {
      const socket = dialTcp((server.address() as AddressInfo).port, '127.0.0.1')
      return { input: socket, output: socket }
    }).connect({ ...silent, onWarning: (problem) => void reports.push(problem) })
    await askTen(connection, {})
    while (reports.length < 2) await delay(5)
    expect(reports.map(({ message }) => message)).toEqual([
      expect.stringContaining('answered, cancelled or timed out before'),
      expect.stringContaining('no such request was sent'),
    ])
    await connection.close()
  })

  it.each(['modern', 'legacy'] as const)(
    'find their requests over HTTP, each on a stream of another: %s',
    async (era) => {
      const waiting: ServerResponse[] = []
      const take = collect(10, (ids) => {
        // The answer to each request comes on the stream of the one before it, twice; then that stream's own.
        for (const [n, response] of waiting.entries()) {
          for (const id of [ids[(n + 1) % 10], ids[(n + 1) % 10], ids[n]] as number[]) {
            response.write(`data: ${JSON.stringify(resultOf(id))}\n\n`)
          }
          response.end()
        }
      })
      const url = await peer((message, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
        waiting.push(response)
        take(message.id)
      })
      const reports: Error[] = []
      const connection = await http(url).connect({ ...silent, onWarning: (problem) => void reports.push(problem) })
      if (era === 'legacy') await connection.request('initialize', handshake(), { announceCancel: false })
      await askTen(connection, era === 'legacy' ? {} : modern())
      await delay(50)
      expect(reports).not.toEqual([])
      for (const report of reports) expect(report).toMatchObject({ name: 'ConnectionError', reason: 'unmatched' })
      await connection.close()
    },
  )
})

interface Arrived {
  readonly id: number
  readonly method: string
}

/** A server over HTTP that shakes hands, and has all other requests answered by hand. */
async function peer(answer: (message: Arrived, response: ServerResponse) => void): Promise<string> {
  const server = createHttpServer(async (request: IncomingMessage, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const message = (text === '' ? {} : JSON.parse(text)) as Arrived
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
