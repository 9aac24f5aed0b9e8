/** What a server says in which a tool would ask the client all the same: nothing of how to ask is part of it. */

import { invalidParams } from '@mcpx/protocol'

/** A fault of the server's author, whom the types do not tell: with these the same does not compile. */
function refuse(): never {
  throw new Error('A server of tools alone cannot ask the client: make it with createServer of "@mcpx/server" instead')
}

/** Stands for all that asking takes. */
export const asksNothing = {
  createAsker: refuse,
  seal: refuse,
  /** What clients bring along was never given to them. */
  open(): never {
    throw invalidParams('params.requestState: not valid here. This server has asked for nothing')
  },
}
