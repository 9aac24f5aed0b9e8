/** Those parts of a response of Node's HTTP server that are used: so this compiles for every runtime. */

export interface Outgoing {
  readonly destroyed: boolean
  /** Null as long as it waits for its turn, and once it is sent. */
  readonly socket?: unknown
  destroy(): unknown
  emit(event: 'close'): unknown
  once(event: 'close', listener: () => void): unknown
  removeListener(event: 'close', listener: () => void): unknown
}

/** What a request came on. */
export interface Connection {
  readonly destroyed: boolean
  once(event: 'close', listener: () => void): unknown
}

/** One that a stream can be written to. */
export interface OutgoingStream extends Outgoing {
  readonly writableLength: number
  readonly writableNeedDrain: boolean
  readonly req: { readonly socket: Connection }
  on(event: 'close', listener: () => void): unknown
  once(event: 'close' | 'drain', listener: () => void): unknown
  write(text: string): boolean
  end(text: string): unknown
}

/** Those of HTTP/2 have other members. */
export function takesStreams(outgoing: Outgoing): outgoing is OutgoingStream {
  return typeof (outgoing as Partial<OutgoingStream>).writableNeedDrain === 'boolean'
}

/** Whether nothing can reach the client any more. */
export function hasGone(
  { socket }: { readonly socket: Pick<Connection, 'destroyed'> },
  { destroyed }: Pick<Outgoing, 'destroyed'>,
): boolean {
  return destroyed || socket.destroyed
}

/** The responses that wait for their turn on each connection: with a listener each, Node would warn of a leak. */
const queues = new WeakMap<Connection, Set<Outgoing>>()

/**
 * Has a response close when its client goes while it waits behind others of the same connection. Node does so from
 * version 24 on; before, only the response whose turn it is closes. For whoever is about to listen.
 */
export function closeWith(connection: Connection, outgoing: Outgoing): void {
  if (outgoing.socket !== null || outgoing.destroyed) return
  const queue = queues.get(connection) ?? openQueue(connection)
  if (queue.has(outgoing)) return
  queue.add(outgoing)
  outgoing.once('close', () => queue.delete(outgoing))
}

function openQueue(connection: Connection): Set<Outgoing> {
  const queue = new Set<Outgoing>()
  queues.set(connection, queue)
  connection.once('close', () => {
    for (const outgoing of queue) {
      if (outgoing.destroyed) continue
      outgoing.destroy()
      outgoing.emit('close')
    }
  })
  return queue
}
