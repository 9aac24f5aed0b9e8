/** Validates every message with the official schema of its revision, and rejects unknown members. */

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
import { type Definitions, officialSchemas } from '../../schema/src/official.ts'
import { createValidator, rejectUnknownMembers, type Validator } from '../../schema/src/official-validator.ts'

/** Objects with members that the schema does not define: schemas of tools, metadata, and client capabilities, which a
 * client sends before it knows the revision.
 */
const open = new Set(['inputSchema', 'outputSchema', '_meta', 'ClientCapabilities'])

interface RevisionSchema {
  readonly validate: Validator
  readonly definitions: Definitions
  /** The definition of each method. */
  readonly methods: ReadonlyMap<string, string>
  /** The definition of an error response. */
  readonly error: string
}

const revisionSchemas = new Map<Revision, RevisionSchema>()

function schemaOf(revision: Revision): RevisionSchema {
  const known = revisionSchemas.get(revision)
  if (known !== undefined) return known
  const schema = officialSchemas.find((each) => each.revision === revision)
  if (schema === undefined) throw new Error(`There is no schema of ${revision}`)
  const corrections = errata.filter(({ revisions }) => revisions.includes(revision)).map(({ edit }) => edit)
  const { definitions } = schema
  const methods = Object.entries(definitions).flatMap(([name, { properties }]) => {
    const method = properties?.method?.const
    return typeof method === 'string' ? ([[method, name]] as const) : []
  })
  const error = 'JSONRPCError' in definitions ? 'JSONRPCError' : 'JSONRPCErrorResponse'
  const revisionSchema = {
    validate: createValidator(schema, [
      ...corrections,
      rejectUnknownMembers((name) => open.has(name) || name.endsWith('MetaObject')),
    ]),
    definitions,
    methods: new Map(methods),
    error,
  }
  revisionSchemas.set(revision, revisionSchema)
  return revisionSchema
}

/** Compiles all schemas in advance, which takes a noticeable time. */
export function compileSchemas(): void {
  for (const revision of REVISIONS) {
    const { validate, definitions, methods, error } = schemaOf(revision)
    validate(error, {})
    for (const name of methods.values()) {
      validate(name, {})
      const result = name.replace(/Request$/, 'Result')
      if (result in definitions) validate(result, {})
    }
  }
}

type Side = 'client' | 'server'

/** Wraps the client's end of a channel; reports invalid messages of both sides to `onWarning`. */
export function validateChannel(channel: Channel, revision: Revision, onWarning: (problem: Error) => void): Channel {
  const revisionSchema = schemaOf(revision)
  const pending = { client: new Map<RequestId, string>(), server: new Map<RequestId, string>() }

  function validateMessage(from: Side, item: Message | Decoded): void {
    const message = item as Message
    const definition = isResponse(message) ? resultOf(from, message) : definitionOf(from, message)
    if (definition === undefined) return
    const value = 'result' in message ? message.result : withoutEnvelope(revisionSchema, definition, message)
    if (!revisionSchema.validate(definition, value)) {
      onWarning(new Error(`${from}: expected a ${definition} of ${revision}, got ${JSON.stringify(message)}`))
    }
  }

  /** Clients may send methods that the revision does not have, because tests expect their rejection. */
  function definitionOf(from: Side, message: Message): string | undefined {
    const { method } = message as { method: string }
    if (isRequest(message)) pending[from].set(message.id, method)
    const definition = revisionSchema.methods.get(method)
    if (definition === undefined && from === 'server')
      onWarning(new Error(`server: expected a method of ${revision}, got ${method}`))
    return definition
  }

  function resultOf(from: Side, message: Message & { id?: RequestId | undefined }): string | undefined {
    const waiting = pending[from === 'client' ? 'server' : 'client']
    const method = message.id === undefined ? '' : waiting.get(message.id)
    if (method === undefined)
      onWarning(new Error(`${from}: expected a pending request for the response, got id ${message.id}`))
    else if (message.id !== undefined) waiting.delete(message.id)
    if (!('result' in message)) return revisionSchema.error
    if ((message.result as { resultType?: unknown }).resultType === 'input_required') return 'InputRequiredResult'
    const name = revisionSchema.methods.get(method ?? '')?.replace(/Request$/, 'Result')
    return name === undefined || name in revisionSchema.definitions ? name : 'EmptyResult'
  }

  return {
    send(message) {
      validateMessage('client', message)
      return channel.send(message)
    },
    receive: (receiver) =>
      channel.receive((item) => {
        validateMessage('server', item)
        return receiver(item)
      }),
    close: () => channel.close(),
  }
}

/** Removes `jsonrpc` and `id` if the definition does not describe them. */
function withoutEnvelope({ definitions }: RevisionSchema, definition: string, message: Message): object {
  if ('jsonrpc' in (definitions[definition]?.properties ?? {})) return message
  const { jsonrpc: _version, id: _id, ...rest } = message as { jsonrpc: string; id?: RequestId }
  return rest
}
