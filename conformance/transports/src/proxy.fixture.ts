/** A TCP proxy that lets an answer pass up to some byte, and then cuts the connection, or forwards nothing more. */

import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** How many bytes of the answer may pass, by what has come of it; nothing when that is not known yet. */
export type Phase = (answer: string) => number | undefined

export interface Fault {
  /** The fault befalls the first connection on which this comes from the client, in the answer to it. */
  readonly marker: string
  readonly phase: Phase
  /** `hold`: the connection stays open, and nothing more passes in either direction. */
  readonly action: 'cut' | 'hold'
}

export interface FaultyProxy {
  readonly port: number
  /** What comes next goes wrong like this, once. */
  arm(fault: Fault): void
  /** What comes from now on to those who have sent this already goes wrong like this. */
  armOpen(sent: string, fault: Omit<Fault, 'marker'>): void
  /** Whether the fault has happened. */
  hasStruck(): boolean
  /** Ends all connections. */
  cutAll(): void
  /** Forwards to this port from now on. */
  target: number
}

export async function startProxy(target: number): Promise<FaultyProxy> {
  const pairs = new Set<[Socket, Socket]>()
  let armed: Fault | undefined
  let hasStruck = false
  const proxy = { target }
  const open = new Set<(marker: string, fault: Omit<Fault, 'marker'>) => void>()

  function join(near: Socket): void {
    const far = dial({ port: proxy.target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    const pair: [Socket, Socket] = [near, far]
    const end = () => {
      pairs.delete(pair)
      near.destroy()
      far.destroy()
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

    open.add((marker, given) => {
      if (sent.includes(marker)) fault = given
    })
    near.on('data', (chunk: Buffer) => {
      if (isHeld) return
      sent += chunk.toString('latin1')
      if (armed !== undefined && chunk.includes(armed.marker)) {
        fault = armed
        armed = undefined
      }
      far.write(chunk)
    })
    far.on('data', (chunk: Buffer) => {
      if (isHeld) return
      if (fault === undefined) return void near.write(chunk)
      answer += chunk.toString('latin1')
      const limit = fault.phase(answer)
      const until = limit === undefined ? answer.length : Math.min(limit, answer.length)
      const piece = Buffer.from(answer.slice(passed, until), 'latin1')
      passed = Math.max(passed, until)
      if (limit === undefined || answer.length < limit) near.write(piece)
      else if (piece.length === 0) strike()
      else near.write(piece, strike)
    })
    near.on('end', () => isHeld || far.end())
    far.on('end', () => isHeld || near.end())
    for (const socket of pair) socket.on('error', end).on('close', () => isHeld || end())
  }

  const server = createServer({ allowHalfOpen: true, noDelay: true }, join).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cutAll = () => {
    for (const [near, far] of pairs) {
      near.destroy()
      far.destroy()
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

/** Where a phase of an answer ends. */
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

/** The place behind these texts, one after the other. */
function after(answer: string, ...texts: string[]): number | undefined {
  let at = 0
  for (const text of texts) {
    const found = answer.indexOf(text, at)
    if (found < 0) return undefined
    at = found + text.length
  }
  return at
}

/** A place in a body whose length was announced. */
function bodyAt(answer: string, place: (length: number) => number): number | undefined {
  const start = after(answer, '\r\n\r\n')
  return start === undefined ? undefined : start + place(lengthOf(answer.slice(0, start)))
}
