/** A two-way pipe of messages: what a carrier such as stdio has to provide. */

import type { Decoded } from '../jsonrpc/codec.ts'
import type { Message } from '../jsonrpc/message.ts'
import type { Awaitable } from './awaitable.ts'

export interface Channel {
  /**
   * Sends one message, or the answers to an array of them. Messages leave in the order of the calls. Returns
   * nothing when more can be sent at once, else a promise that resolves when there is room again: the message
   * has been taken either way. Throws, or rejects, with nothing written when the channel has ended or the
   * message cannot be written.
   */
  send(message: Message | Message[]): Awaitable<void>
  /**
   * Hands over what arrives, in order, until the peer ends its side. Called once. While a promise that the
   * receiver returned is pending, nothing more is read. Rejects when the channel breaks.
   */
  receive(receiver: (item: Decoded) => Awaitable<void>): Promise<void>
  /**
   * Ends both directions once what was sent is delivered. Whoever waits for room is released at once. Calling it again
   * does nothing.
   */
  close(): Promise<void>
}
