/** Reads the operations of an API: their names, parameters, bodies and credentials. */

import { isObject } from '@mcpx/protocol'
import { usageError } from '../output/errors.ts'
import { type ApiDocument, dereference } from './document.ts'
import { uniqueName } from './literals.ts'

/** An operation of the API. */
export interface Operation {
  /** The name of the tool, and the value of `--operation`. */
  readonly name: string
  /** The `operationId`, if there is one. */
  readonly id: string | undefined
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly deprecated: boolean
  /** The description of the operation, and of its path. */
  readonly source: Record<string, unknown>
  readonly pathItem: Record<string, unknown>
}

/** The methods that become tools. */
export type Method = (typeof METHODS)[number]

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const
/** The longest tool name that all model APIs accept. */
const MAX_NAME = 64

/** A parameter of the operation, or a part of a parameter, that is an argument of the tool. */
export interface Parameter {
  /** The name of the argument. */
  readonly argument: string
  /** The name in the request. */
  readonly name: string
  readonly place: Place
  readonly required: boolean
  readonly schema: unknown
  readonly description: string | undefined
  /** Whether the value is sent as JSON. */
  readonly json: boolean
  readonly style: string
  readonly explode: boolean
}

/** Where a parameter is sent. */
export type Place = 'path' | 'query' | 'header' | 'cookie'

/** The body of a request, with the first supported content type. */
export interface RequestBody {
  readonly argument: string
  readonly required: boolean
  readonly kind: BodyKind
  readonly contentType: string
  readonly schema: unknown
  readonly description: string | undefined
}

/** How a body is encoded. */
export type BodyKind = 'json' | 'form' | 'multipart' | 'text'

/** The plan of a tool's request: parameters, body and credentials. */
export interface RequestPlan {
  readonly parameters: readonly Parameter[]
  readonly body: RequestBody | undefined
  /** The names of the security schemes of the first alternative. */
  readonly security: readonly string[]
  /** Whether the operation can be called without credentials. */
  readonly anonymous: boolean
}

/** Returns all operations with distinct names. */
export function listOperations({ root }: ApiDocument): Operation[] {
  const taken = new Set<string>()
  return Object.entries(root.paths as object).flatMap(([path, value]) => {
    if (!path.startsWith('/')) return []
    const pathItem = dereference(value, root, `paths ${JSON.stringify(path)}`)
    return METHODS.flatMap((method) => {
      const source = pathItem[method]
      if (!isObject(source)) return []
      const { operationId, summary, description, tags, deprecated } = source
      const id = typeof operationId === 'string' ? operationId : undefined
      return {
        name: uniqueName(toolName(id ?? `${method} ${path}`), taken, MAX_NAME),
        id,
        method,
        path,
        summary:
          ([summary, description].find((each) => typeof each === 'string' && each !== '') as string | undefined) ?? '',
        tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
        deprecated: deprecated === true,
        source,
        pathItem,
      }
    })
  })
}

/** Returns a name that every client accepts: letters, digits, `_` and `-`. */
function toolName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9_-]+/g, '_').replace(/^_+|(?<!_)_+$/g, '')
  return (name === '' ? 'operation' : name).slice(0, MAX_NAME)
}

/** Returns the name of an argument. Some model APIs restrict property names. */
function argumentName(name: string, place: string, taken: Set<string>): string {
  const plain = toolName(name.replace(/^\$/, ''))
  return uniqueName(taken.has(plain) ? toolName(`${place}_${plain}`) : plain, taken, MAX_NAME)
}

/** Reads the parameters, the body and the credentials of an operation. */
export function planRequest(operation: Operation, { root }: ApiDocument): RequestPlan {
  const { path, method, source, pathItem } = operation
  const label = `${method.toUpperCase()} ${path}`
  // Exclude names that all objects inherit: a missing argument would have the inherited value.
  const taken = new Set(Object.getOwnPropertyNames(Object.prototype))
  const found = new Map<string, Record<string, unknown>>()
  for (const each of [pathItem.parameters, source.parameters].flatMap((list) => (Array.isArray(list) ? list : []))) {
    const parameter = dereference(each, root, `${label}, parameters`)
    if (typeof parameter.name === 'string') found.set(`${parameter.in} ${parameter.name}`, parameter)
  }
  const names = [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name)
  for (const name of names) {
    if (!found.has(`path ${name}`)) found.set(`path ${name}`, { name, in: 'path', schema: { type: 'string' } })
  }
  const parameters = [...found.values()]
    .map((parameter) => readParameter(parameter, label, taken))
    .filter((parameter) => parameter !== undefined)
    .filter(({ place, name }) => place !== 'path' || names.includes(name))
  const requestBody =
    source.requestBody === undefined ? undefined : dereference(source.requestBody, root, `${label}, requestBody`)
  if (method === 'get' && requestBody?.required === true) {
    const remedy = 'Leave the operation out, and write this tool by hand.'
    throw usageError(`${label}: expected no body, because fetch cannot send one with GET`, remedy)
  }
  const body = requestBody === undefined || method === 'get' ? undefined : readBody(requestBody, label, taken)
  return { parameters, body, ...readSecurity(source.security ?? root.security) }
}

/** These headers follow from other parts of the description. */
const IGNORED_HEADERS = /^(?:accept|content-type|authorization)$/i

function readParameter(source: Record<string, unknown>, label: string, taken: Set<string>): Parameter | undefined {
  const { name, in: place, content, description } = source
  if (typeof name !== 'string' || !isPlace(place)) return undefined
  if (place === 'header' && IGNORED_HEADERS.test(name)) return undefined
  if ((place === 'header' || place === 'cookie') && !/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
    throw usageError(`${label}: expected the name of a ${place}, got ${JSON.stringify(name.slice(0, 80))}`)
  }
  const [media] = isObject(content) ? Object.values(content) : []
  const style =
    typeof source.style === 'string' ? source.style : place === 'query' || place === 'cookie' ? 'form' : 'simple'
  return {
    argument: argumentName(name, place, taken),
    name,
    place,
    required: place === 'path' || source.required === true,
    schema: isObject(media) ? media.schema : source.schema,
    description: typeof description === 'string' ? description : undefined,
    json: isObject(media),
    style,
    explode: typeof source.explode === 'boolean' ? source.explode : style === 'form',
  }
}

function isPlace(value: unknown): value is Place {
  return value === 'path' || value === 'query' || value === 'header' || value === 'cookie'
}

const KINDS: readonly (readonly [RegExp, BodyKind])[] = [
  [/^application\/(?:[\w.-]+\+)?json\b/i, 'json'],
  [/^application\/x-www-form-urlencoded\b/i, 'form'],
  [/^multipart\/form-data\b/i, 'multipart'],
  [/^(?:text\/|application\/(?:[\w.-]+\+)?(?:xml|yaml))/i, 'text'],
  [/^\*\/\*$/, 'json'],
]

function readBody(source: Record<string, unknown>, label: string, taken: Set<string>): RequestBody {
  const content = Object.entries(isObject(source.content) ? source.content : {})
  for (const [pattern, kind] of KINDS) {
    const entry = content.find(([type]) => pattern.test(type))
    if (entry === undefined) continue
    const [type, media] = entry
    const isPlain = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w-]+=[\w.-]+)*$/.test(type)
    return {
      argument: argumentName('body', 'request', taken),
      required: source.required === true,
      kind,
      contentType: isPlain ? type : kind === 'json' ? 'application/json' : 'text/plain',
      schema: isObject(media) ? media.schema : undefined,
      description: typeof source.description === 'string' ? source.description : undefined,
    }
  }
  const types = content.map(([type]) => type.slice(0, 60)).join(', ')
  const remedy = 'Leave the operation out, and write this tool by hand.'
  throw usageError(`${label}: expected a body of JSON, a form or text, got ${types || 'no content type'}`, remedy)
}

function readSecurity(source: unknown): Pick<RequestPlan, 'security' | 'anonymous'> {
  const alternatives = Array.isArray(source) ? source.filter(isObject).map((each) => Object.keys(each)) : []
  const [first = []] = alternatives.filter((names) => names.length > 0)
  return { security: first, anonymous: first.length > 0 && alternatives.some((names) => names.length === 0) }
}
