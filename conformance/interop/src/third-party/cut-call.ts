/** Cuts all connections of an old client of the official SDK during a call. The client then resumes the call. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'
import { eventually } from '../feature.ts'

interface CallOptions {
  readonly onprogress?: (progress: { readonly progress: number }) => void
  readonly resumptionToken?: string
  readonly onresumptiontoken?: (token: string) => void
}

export interface ResumingClient {
  callTool(params: object, schema?: undefined, options?: CallOptions): Promise<{ content: { text: string }[] }>
}

/**
 * - `itself`: the client requests the rest of a stream that breaks
 * - `with a token`: the program repeats the call with the id of the last event, which the client sends instead of the
 *   request
 */
export type Resumption = 'itself' | 'with a token'

let tags = 0

export async function checkCutCall(client: ResumingClient, cut: () => void, resumption: Resumption): Promise<void> {
  const tag = `cut ${++tags}`
  const release = (phase: string) => client.callTool({ name: 'release', arguments: { tag: `${tag} ${phase}` } })
  const steps: number[] = []
  let token: string | undefined
  const call = (options: CallOptions = {}) =>
    client.callTool({ name: 'parts', arguments: { tag } }, undefined, {
      onprogress: ({ progress }) => void steps.push(progress),
      onresumptiontoken: (last) => {
        token = last
      },
      ...options,
    })
  const first = call()
  // If the program repeats the call, the first call has no result.
  first.catch(() => {})
  await eventually('two steps', () => steps.length === 2)
  assert.ok(token, 'the events have ids')
  const resumptionToken = token
  cut()
  await release('lost')
  const result = resumption === 'itself' ? first : call({ resumptionToken })
  await release('back')
  await release('over')
  assert.equal((await result).content[0]?.text, 'made it')
  // The progress of a repeated call has the token of the first call, which this client has already forgotten.
  if (resumption === 'itself') assert.deepEqual(steps, [1, 2, 3, 4, 5, 6])
}

export interface CuttingProxy {
  readonly url: string
  /** Cuts all connections. Later connections are forwarded again. */
  cut(): void
  close(): Promise<void>
}

/** Starts a TCP proxy on 127.0.0.1 in front of a server. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { port, pathname } = new URL(target)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = dial({ port: Number(port), host: '127.0.0.1' })
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    cut,
    async close() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
