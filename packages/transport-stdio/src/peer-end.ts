/** Knows that the peer has ended a connection before those who wait are told: who then asks again can make another one. */

import { type Channel, ConnectionError } from '@mcpx/protocol'

export interface WatchedChannel extends Channel {
  /** Resolves when the connection ended and it was not this side that ended it: with what broke it, if anything did. */
  readonly lost: Promise<ConnectionError | undefined>
}

export function watchEnd(channel: Channel): WatchedChannel {
  let isClosing = false
  let tell: (reason: ConnectionError | undefined) => void = () => {}
  const lost = new Promise<ConnectionError | undefined>((resolve) => {
    tell = resolve
  })
  async function end(problem: unknown): Promise<void> {
    if (isClosing) return
    const isOther = problem !== undefined && !(problem instanceof ConnectionError)
    tell(isOther ? new ConnectionError('closed', 'The connection broke', { cause: problem }) : problem)
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
  return {
    lost,
    send: (message) => channel.send(message),
    async receive(receiver) {
      try {
        await channel.receive(receiver)
      } catch (problem) {
        await end(problem)
        throw problem
      }
      await end(undefined)
    },
    close() {
      isClosing = true
      return channel.close()
    },
  }
}
