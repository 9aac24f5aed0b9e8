/** When requests to Node's HTTP server can end: when it has told that all of them is there. */

interface OnNode {
  readonly setImmediate?: (run: () => void) => void
}

/** As it is now: tests put clocks of their own in its place, and requests would wait for those. */
const afterThis = (globalThis as OnNode).setImmediate ?? setTimeout

/** The more are read in a row, the less each takes, and the longer the first of them waits. */
const MOST = 6

let turn: Promise<void> | undefined
let begin = ignore
let size = 0

/**
 * Resolves with the next turn of the loop. Node tells of a body before it tells of the end of the request: one that is to end
 * between the two has to be made to, which takes longer than all the rest of its reading.
 */
export function nextTurn(): Promise<void> {
  if (turn === undefined) afterThis(endTurn)
  else if (size < MOST) return join(turn)
  // All of those have been told of by now, as another request has come since.
  else begin()
  turn = new Promise((resolve) => {
    begin = resolve
  })
  size = 1
  return turn
}

function join(joined: Promise<void>): Promise<void> {
  size += 1
  return joined
}

function endTurn(): void {
  turn = undefined
  begin()
  // It holds what surrounds the first of these requests.
  begin = ignore
}

function ignore(): void {}
