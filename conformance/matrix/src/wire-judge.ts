/** Judges every message by the official schema of its revision, as a peer would that refuses all it does not know. */

import {
  type Channel,
  type Decoded,
  isRequest,
  isResponse,
  type Message,
  REVISIONS,
  type RequestId,
  type Revision,
} from '@mcpx/protocol'
import { errata } from '../../schema/src/errata.ts'
import { createJudge, type Edit, type Judge } from '../../schema/src/judge.ts'
import { type Definitions, type JsonSchema, officialSchemas } from '../../schema/src/official.ts'

/**
 * Objects whose members are for others to define: schemas of tools, metadata. What a client can do it says before it
 * knows the revision.
 */
const open = new Set(['inputSchema', 'outputSchema', '_meta', 'ClientCapabilities'])

const closed: Edit = (definitions) => {
  const close = (schema: JsonSchema, name: string): void => {
    const { properties } = schema
    if (open.has(name) || name.endsWith('MetaObject')) return
    if (properties !== undefined && schema.additionalProperties === undefined) schema.additionalProperties = false
    if (name === 'params') schema.properties = { ...properties, _meta: {} }
    for (const [member, part] of Object.entries(properties ?? {})) close(part, member)
    for (const part of schema.anyOf ?? []) close(part, name)
    for (const part of [schema.items, schema.additionalProperties]) if (typeof part === 'object') close(part, name)
  }
  for (const [name, schema] of Object.entries(definitions)) if (schema.allOf === undefined) close(schema, name)
}

interface Law {
  readonly judge: Judge
  readonly definitions: Definitions
  /** The definition of each method. */
  readonly methods: ReadonlyMap<string, string>
  /** The definition of a response that says no. */
  readonly error: string
}

const laws = new Map<Revision, Law>()

function lawOf(revision: Revision): Law {
  const known = laws.get(revision)
  if (known !== undefined) return known
  const schema = officialSchemas.find((each) => each.revision === revision)
  if (schema === undefined) throw new Error(`There is no schema of ${revision}`)
  const meant = errata.filter(({ revisions }) => revisions.includes(revision)).map(({ edit }) => edit)
  const { definitions } = schema
  const methods = Object.entries(definitions).flatMap(([name, { properties }]) => {
    const method = properties?.method?.const
    return typeof method === 'string' ? ([[method, name]] as const) : []
  })
  const error = 'JSONRPCError' in definitions ? 'JSONRPCError' : 'JSONRPCErrorResponse'
  const law = { judge: createJudge(schema, [...meant, closed]), definitions, methods: new Map(methods), error }
  laws.set(revision, law)
  return law
}

/** Schemas are compiled when they are first asked for, which takes long enough to be noticed. */
export function prepareToJudge(): void {
  for (const revision of REVISIONS) {
    const { judge, definitions, methods, error } = lawOf(revision)
    judge(error, {})
    for (const name of methods.values()) {
      judge(name, {})
      const result = name.replace(/Request$/, 'Result')
      if (result in definitions) judge(result, {})
    }
  }
}

/** The client's end of a channel; what is not as the revision has it is told to `report`. */
export function judged(channel: Channel, revision: Revision, report: (problem: Error) => void): Channel {
  const law = lawOf(revision)
  const asked = { C: new Map<RequestId, string>(), S: new Map<RequestId, string>() }

  function look(from: 'C' | 'S', item: Message | Decoded): void {
    const message = item as Message
    const definition = isResponse(message) ? resultOf(from, message) : definitionOf(from, message)
    if (definition === undefined) return
    const value = 'result' in message ? message.result : framed(law, definition, message)
    if (!law.judge(definition, value)) {
      report(new Error(`${from} sent what is no ${definition} of ${revision}: ${JSON.stringify(message)}`))
    }
  }

  /** Methods that the revision does not have are sent on purpose by clients, to be refused. */
  function definitionOf(from: 'C' | 'S', message: Message): string | undefined {
    const { method } = message as { method: string }
    if (isRequest(message)) asked[from].set(message.id, method)
    const definition = law.methods.get(method)
    if (definition === undefined && from === 'S') report(new Error(`S sent ${method}, which is not in ${revision}`))
    return definition
  }

  function resultOf(from: 'C' | 'S', message: Message & { id?: RequestId | undefined }): string | undefined {
    const waiting = asked[from === 'C' ? 'S' : 'C']
    const method = message.id === undefined ? '' : waiting.get(message.id)
    if (method === undefined) report(new Error(`${from} answered ${message.id}, which does not wait for an answer`))
    else if (message.id !== undefined) waiting.delete(message.id)
    if (!('result' in message)) return law.error
    if ((message.result as { resultType?: unknown }).resultType === 'input_required') return 'InputRequiredResult'
    const name = law.methods.get(method ?? '')?.replace(/Request$/, 'Result')
    return name === undefined || name in law.definitions ? name : 'EmptyResult'
  }

  return {
    send(message) {
      look('C', message)
      return channel.send(message)
    },
    receive: (receiver) =>
      channel.receive((item) => {
        look('S', item)
        return receiver(item)
      }),
    close: () => channel.close(),
  }
}

/** Older definitions leave the frame of a message to other definitions. */
function framed({ definitions }: Law, definition: string, message: Message): object {
  if ('jsonrpc' in (definitions[definition]?.properties ?? {})) return message
  const { jsonrpc: _version, id: _id, ...rest } = message as { jsonrpc: string; id?: RequestId }
  return rest
}
