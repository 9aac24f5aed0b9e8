/** Those parts of a response of Node's HTTP server that are used: so this compiles for every runtime. */

export interface Outgoing {
  readonly destroyed: boolean
  readonly writableFinished: boolean
  once(event: 'close', listener: () => void): unknown
  removeListener(event: 'close', listener: () => void): unknown
}

/** One that a stream can be written to. */
export interface OutgoingStream extends Outgoing {
  readonly writableLength: number
  readonly writableNeedDrain: boolean
  readonly req: { readonly socket: { readonly destroyed: boolean } }
  on(event: 'close', listener: () => void): unknown
  once(event: 'close' | 'drain', listener: () => void): unknown
  write(text: string): boolean
  end(text: string): unknown
  destroy(): unknown
}

/** Those of HTTP/2 have other members. */
export function takesStreams(outgoing: Outgoing): outgoing is OutgoingStream {
  return typeof (outgoing as Partial<OutgoingStream>).writableNeedDrain === 'boolean'
}

/** Whether nothing can reach the client any more. */
export function hasGone(
  { socket }: { readonly socket: { readonly destroyed: boolean } },
  { destroyed }: Pick<Outgoing, 'destroyed'>,
): boolean {
  return destroyed || socket.destroyed
}
