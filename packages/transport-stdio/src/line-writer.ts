/** Lines on their way out: those of one turn leave in few writes, and no more is written than the stream takes. */

import type { Awaitable } from '@mcpx/protocol'
import type { ByteSink } from './streams.ts'

/**
 * How much is gathered before it is written at once, in characters. A write costs as much as half an answer; a peer that
 * gets its first answers while the others are made has its next requests ready by then.
 */
const GATHERED = 4 * 1024

interface Gate {
  readonly opened: Promise<void>
  open(): void
}

/** Keeps what the stream does not take yet; the promise that is given with it says when it has been taken. */
export class LineWriter {
  readonly #sink: ByteSink
  readonly #onRoom: () => void
  #gathered = ''
  #isScheduled = false
  /** The stream said that it is full. */
  #isFull = false
  /** Characters that were given to the stream and have not left. */
  #leaving = 0
  /** For those whose lines wait to be written. */
  #gate: Gate | undefined
  /** For those whose lines the stream has not taken yet. */
  #written: Gate | undefined
  #onEmpty: (() => void)[] = []
  #isBroken = false

  /** @param onRoom called whenever something has left. */
  constructor(sink: ByteSink, onRoom: () => void) {
    this.#sink = sink
    this.#onRoom = onRoom
  }

  /** How many characters wait to leave. */
  get unsent(): number {
    return this.#gathered.length + this.#leaving
  }

  write(line: string): Awaitable<void> {
    this.#gathered += line
    if (!this.#isFull && this.#gathered.length >= GATHERED) return this.#flush()
    if (this.#isFull) {
      this.#gate ??= createGate()
      return this.#gate.opened
    }
    if (!this.#isScheduled) {
      this.#isScheduled = true
      // Runs when all that follows from what just arrived has run.
      process.nextTick(this.#flushScheduled)
    }
    return undefined
  }

  /** What is written until `end` is called leaves then, if not before; that has to be in the same turn. */
  begin(): void {
    this.#isScheduled = true
  }

  end(): void {
    this.#flushScheduled()
  }

  /** Resolves when nothing waits to leave any more. */
  async drained(): Promise<void> {
    if (!this.#isFull) void this.#flush()
    if (this.unsent === 0 || this.#isBroken) return
    await new Promise<void>((resolve) => void this.#onEmpty.push(resolve))
  }

  /** Lets go whoever waits for room. */
  release(): void {
    this.#gate?.open()
    this.#written?.open()
  }

  /** The stream takes nothing any more: nobody is left waiting. */
  break(): void {
    this.release()
    this.#isBroken = true
    this.#isFull = false
    this.#gathered = ''
    this.#leaving = 0
    this.#tellEmpty()
  }

  readonly #flushScheduled = (): void => {
    this.#isScheduled = false
    if (!this.#isFull) void this.#flush()
  }

  /** Writes what was gathered; a promise when that filled the stream. */
  #flush(): Awaitable<void> {
    const text = this.#gathered
    if (text === '' || this.#isBroken) return undefined
    const gate = this.#gate
    this.#gathered = ''
    this.#gate = undefined
    this.#leaving += text.length
    let filled: Gate | undefined
    const hasRoom = this.#sink.write(text, () => {
      this.#leaving = Math.max(0, this.#leaving - text.length)
      if (filled !== undefined) this.#taken(filled)
      this.#onRoom()
      if (this.unsent === 0) this.#tellEmpty()
    })
    if (hasRoom || this.#isBroken) {
      gate?.open()
      return undefined
    }
    filled = gate ?? createGate()
    this.#isFull = true
    this.#written = filled
    return filled.opened
  }

  /** There is room again. */
  #taken(gate: Gate): void {
    this.#isFull = false
    this.#written = undefined
    gate.open()
    void this.#flush()
  }

  #tellEmpty(): void {
    const waiting = this.#onEmpty
    this.#onEmpty = []
    for (const resolve of waiting) resolve()
  }
}

function createGate(): Gate {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
