/** The byte streams this package works on: what it needs of Node's, without Node's types. */

/** What is read: a `Readable`, a socket, `process.stdin`. */
export interface ByteSource {
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  removeListener(event: 'end' | 'close', listener: () => void): unknown
  pause(): unknown
  resume(): unknown
  destroy(): unknown
}

/** What is written: a `Writable`, a socket, `process.stdout`. */
export interface ByteSink {
  /** Whether there is room for more; `done` is called once it has left. */
  write(text: string, done: (error?: Error | null) => void): boolean
  end(done: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'close', listener: () => void): unknown
  removeListener(event: 'close', listener: () => void): unknown
}
