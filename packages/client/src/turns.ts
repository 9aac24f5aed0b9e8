/** Which call a question or a log message of the server belongs to, where nothing on the wire says so: calls take turns. */

import {
  type Awaitable,
  type ClientCapabilities,
  ConnectionError,
  type InputRequest,
  type InputResponse,
  internalError,
} from '@mcpx/protocol'
import { LONGEST_TIMER } from './cancellation.ts'
import type { Link } from './eras/era.ts'
import type { AskOrigin, RequestCallOptions } from './options.ts'
import { ASKS, areAlike, createTurn, type Turn, tookTooLong, tooManyTurns } from './turn.ts'

export interface Turns {
  /**
   * Makes a call when no other one runs that it could be taken for. Rejects with `ConnectionError` when that takes longer
   * than its timeout, when too many wait already, and when its signal fires.
   */
  run<Result>(link: Link, method: string, options: RequestCallOptions, call: () => Promise<Result>): Promise<Result>
  /** Has the call answer that a question belongs to; nothing when none does. Throws when several may have asked. */
  answer(request: InputRequest, origin: AskOrigin): Awaitable<InputResponse> | undefined
  /** Whoever hears the log messages that come now, if it is one call alone. */
  readonly onLog: Turn['onLog']
}

/** How many calls may wait for their turn. */
const MOST_WAITING = 1_000

/** @param declared what the client says that it can be asked. */
export function createTurns(declared: ClientCapabilities): Turns {
  const running = new Set<Turn>()
  const queue = createQueue(isFree)

  function isFree(turn: Turn, before: readonly Turn[]): boolean {
    const others = [...running]
    // While the server waits for an answer, what cannot be taken for the answered call may go on: the user may need it.
    const isAside = (turn.makes & ASKS) === 0 && others.some(({ questions }) => questions > 0)
    if (isAside) return !others.some((other) => other.questions === 0 && areAlike(turn, other))
    return !others.some((other) => areAlike(turn, other)) && !before.some((other) => areAlike(turn, other))
  }

  const startNext = () => queue.start((turn) => void running.add(turn))

  return {
    async run(link, method, options, call) {
      const turn = createTurn(link, declared, method, options)
      if (isFree(turn, queue.turns)) running.add(turn)
      else if (queue.turns.length >= MOST_WAITING) throw tooManyTurns(turn, MOST_WAITING)
      else await queue.wait(turn, startNext)
      try {
        return await call()
      } finally {
        running.delete(turn)
        startNext()
      }
    },
    answer(request, origin) {
      const able = [...running].filter(({ onAsk }) => onAsk !== undefined)
      const likely = able.filter(({ makes }) => (makes & ASKS) !== 0)
      const [turn, ...others] = likely.length === 0 ? able : likely
      if (others.length > 0) throw internalError('Several calls are running, and nothing says which one asks')
      return turn && answerDuring(turn, request, origin, startNext)
    },
    get onLog() {
      const hearing = [...running].filter(({ onLog }) => onLog !== undefined)
      return hearing.length === 1 ? hearing[0]?.onLog : undefined
    },
  }
}

async function answerDuring(turn: Turn, request: InputRequest, origin: AskOrigin, onWait: () => void) {
  turn.questions += 1
  onWait()
  try {
    return (await turn.onAsk?.(request, origin)) as InputResponse
  } finally {
    turn.questions -= 1
  }
}

/** @param isFree whether a call may run now, given those that have waited for longer. */
function createQueue(isFree: (turn: Turn, before: readonly Turn[]) => boolean) {
  let turns: Turn[] = []
  const begin = new Map<Turn, () => void>()

  function leave(turn: Turn): void {
    turns = turns.filter((other) => other !== turn)
    begin.delete(turn)
  }

  return {
    get turns(): readonly Turn[] {
      return turns
    },
    /** Begins all that may run by now. */
    start(run: (turn: Turn) => void): void {
      for (const turn of turns) {
        if (!isFree(turn, turns.slice(0, turns.indexOf(turn)))) continue
        const go = begin.get(turn)
        leave(turn)
        run(turn)
        go?.()
      }
    },
    /** @param onLeft called when this one does not wait any more, and will not run. */
    wait(turn: Turn, onLeft: () => void): Promise<void> {
      const { method, signal, timeout } = turn
      return new Promise((resolve, reject) => {
        const release = () => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', cancel)
        }
        const stop = (error: ConnectionError) => {
          release()
          leave(turn)
          reject(error)
          onLeft()
        }
        const cancel = () =>
          stop(new ConnectionError('cancelled', `${method} was cancelled`, { cause: signal?.reason }))
        const timer = timeout < LONGEST_TIMER ? setTimeout(() => stop(tookTooLong(turn)), timeout) : undefined
        turns.push(turn)
        begin.set(turn, () => {
          release()
          resolve()
        })
        signal?.addEventListener('abort', cancel)
        if (signal?.aborted) cancel()
      })
    },
  }
}
