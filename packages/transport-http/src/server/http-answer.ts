/** What the endpoint answers, before it becomes what the runtime sends. */

import type { EventStream } from './event-stream.ts'

export type HeaderRecord = Readonly<Record<string, string>>

export class HttpAnswer {
  readonly status: number
  readonly headers: HeaderRecord | Headers
  /** Text, a stream of events, or the body of a response that a hook made. */
  readonly body: string | EventStream | ReadableStream<Uint8Array<ArrayBuffer>> | null

  constructor(status: number, headers: HttpAnswer['headers'], body: HttpAnswer['body']) {
    this.status = status
    this.headers = headers
    this.body = body
  }
}
