/** A TCP proxy that forwards a response up to a byte and then cuts the connection or stops forwarding. */

import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Returns the number of bytes of the response to forward; undefined if that cannot be decided yet. */
export type Phase = (answer: string) => number | undefined

export interface Fault {
  /** The fault applies to the response on the first connection on which the client sends this text. */
  readonly marker: string
  readonly phase: Phase
  /** `cut` closes the connection; `hold` keeps it open without forwarding anything. */
  readonly action: 'cut' | 'hold'
}

export interface FaultyProxy {
  readonly port: number
  /** Applies the fault once to a later request. */
  arm(fault: Fault): void
  /** Applies the fault to further data on open connections on which the client has sent this text. */
  armOpen(sent: string, fault: Omit<Fault, 'marker'>): void
  /** Whether the fault has happened. */
  hasStruck(): boolean
  /** Cuts all connections. */
  cutAll(): void
  /** The port to forward to; may be changed. */
  target: number
}

export async function startProxy(target: number): Promise<FaultyProxy> {
  const pairs = new Set<[Socket, Socket]>()
  let armed: Fault | undefined
  let hasStruck = false
  const proxy = { target }
  const open = new Set<(marker: string, fault: Omit<Fault, 'marker'>) => void>()

  function join(clientSocket: Socket): void {
    const serverSocket = dial({ port: proxy.target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    const pair: [Socket, Socket] = [clientSocket, serverSocket]
    const end = () => {
      pairs.delete(pair)
      clientSocket.destroy()
      serverSocket.destroy()
    }
    pairs.add(pair)
    let fault: Omit<Fault, 'marker'> | undefined
    let sent = ''
    let answer = ''
    let passed = 0
    let isHeld = false

    function strike(): void {
      hasStruck = true
      if (fault?.action === 'cut') end()
      else isHeld = true
    }

    open.add((marker, newFault) => {
      if (sent.includes(marker)) fault = newFault
    })
    clientSocket.on('data', (chunk: Buffer) => {
      if (isHeld) return
      sent += chunk.toString('latin1')
      if (armed !== undefined && chunk.includes(armed.marker)) {
        fault = armed
        armed = undefined
      }
      serverSocket.write(chunk)
    })
    serverSocket.on('data', (chunk: Buffer) => {
      if (isHeld) return
      if (fault === undefined) return void clientSocket.write(chunk)
      answer += chunk.toString('latin1')
      const limit = fault.phase(answer)
      const until = limit === undefined ? answer.length : Math.min(limit, answer.length)
      const piece = Buffer.from(answer.slice(passed, until), 'latin1')
      passed = Math.max(passed, until)
      if (limit === undefined || answer.length < limit) clientSocket.write(piece)
      else if (piece.length === 0) strike()
      else clientSocket.write(piece, strike)
    })
    clientSocket.on('end', () => isHeld || serverSocket.end())
    serverSocket.on('end', () => isHeld || clientSocket.end())
    for (const socket of pair) socket.on('error', end).on('close', () => isHeld || end())
  }

  const server = createServer({ allowHalfOpen: true, noDelay: true }, join).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cutAll = () => {
    for (const [clientSocket, serverSocket] of pairs) {
      clientSocket.destroy()
      serverSocket.destroy()
    }
    pairs.clear()
  }
  onTestFinished(() => {
    server.close()
    cutAll()
  })
  return Object.assign(proxy, {
    port: (server.address() as AddressInfo).port,
    arm(fault: Fault) {
      armed = fault
      hasStruck = false
    },
    armOpen(sent: string, fault: Omit<Fault, 'marker'>) {
      hasStruck = false
      for (const arm of open) arm(sent, fault)
    },
    hasStruck: () => hasStruck,
    cutAll,
  })
}

const lengthOf = (head: string) => Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? Number.NaN)

/** The positions in a response at which faults happen. */
export const phases = {
  'before the headers': () => 0,
  'inside the headers': () => 20,
  'before the body': (answer) => after(answer, '\r\n\r\n'),
  'inside the body': (answer) => bodyAt(answer, (length) => Math.floor(length / 2)),
  'before the last byte': (answer) => bodyAt(answer, (length) => length - 1),
  'between events': (answer) => after(answer, '"progress":2', '\n\n'),
  'inside an event': (answer) => after(answer, '"progress":3'),
  'inside the last event': (answer) => after(answer, '"result":'),
  'before the last byte of the last event': (answer) => after(answer, '"result":', '\n'),
  'after the last event': (answer) => after(answer, '"result":', '\n\n'),
} as const satisfies Record<string, Phase>

/** Returns the position after these texts, in this order. */
function after(answer: string, ...texts: string[]): number | undefined {
  let at = 0
  for (const text of texts) {
    const found = answer.indexOf(text, at)
    if (found < 0) return undefined
    at = found + text.length
  }
  return at
}

/** Returns a position in a body with a content length. */
function bodyAt(answer: string, place: (length: number) => number): number | undefined {
  const start = after(answer, '\r\n\r\n')
  return start === undefined ? undefined : start + place(lengthOf(answer.slice(0, start)))
}
