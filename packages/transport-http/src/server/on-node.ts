/** What the web's view of requests and answers is replaced by under Hono's server for Node, whose own objects cost less. */

import type { EventStream } from './event-stream.ts'
import { type Incoming, NodeRequest } from './incoming.ts'
import { areNodes, respondByNode } from './node-response.ts'
import type { Outgoing } from './outgoing.ts'
import { OutgoingBody } from './outgoing-body.ts'
import { toReadable } from './readable.ts'
import { likenessOf } from './request-likeness.ts'
import { type Respond, type Runtime, toResponse, WebRequest, webRequest } from './web.ts'

/** What Hono's server for Node gives an app besides the request. */
interface NodeBindings {
  readonly incoming?: Incoming | undefined
  readonly outgoing?: Outgoing | undefined
}

/** On Node, its own objects are read: they are there already, and a web request would have to be made of them. */
export const onNode: Runtime = {
  viewOf(request, env, execution) {
    const { incoming, outgoing } = (env ?? {}) as NodeBindings
    if (incoming?.rawHeaders === undefined || outgoing === undefined) return webRequest(request, execution)
    const likeness = likenessOf(request)
    if (likeness === undefined) return webRequest(request, execution)
    return new NodeRequest(incoming, outgoing, { request, headers: likeness.headersOf(request) })
  },
  respondTo: (request) => (request instanceof WebRequest && areNodes() ? respondByNode : respondByHono),
}

const respondByHono: Respond = (answer) => toResponse(answer, bodyOf)

function bodyOf(stream: EventStream): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { outgoing } = stream
  if (outgoing === undefined) return toReadable(stream)
  return new OutgoingBody(stream, outgoing, toReadable) as unknown as ReturnType<typeof bodyOf>
}
