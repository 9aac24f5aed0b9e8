/** Writes a TypeScript file with a server whose tools call the chosen operations of an API. */

import { isObject } from '@mcpx/protocol'
import { CliError } from '../output/errors.ts'
import { type ApiDocument, dereference } from './document.ts'
import { call, lineComment, type Member, memberOf, objectLiteral, stringLiteral } from './literals.ts'
import {
  type BodyKind,
  type Operation,
  type Parameter,
  type Place,
  planRequest,
  type RequestBody,
  type RequestPlan,
} from './operations.ts'
import { runtimeCode } from './runtime-code.ts'
import { SchemaCode, shortDescription } from './schema-code.ts'
import { SecurityCode } from './security-code.ts'

/** A generated file. */
export interface ServerFile {
  readonly code: string
  /** The names of the tools. */
  readonly tools: readonly string[]
  /** The environment variables that it reads. */
  readonly variables: readonly string[]
  /** Sentences about parts that could not be generated. */
  readonly warnings: readonly string[]
}

/** Options of `writeServerFile`. */
export interface ServerFileOptions {
  /** The base URL of the API, instead of the URL in the description. */
  readonly baseUrl?: string | undefined
  /** The environment variable with a token for operations whose description names no credentials. Default: none. */
  readonly bearer?: string | undefined
  /**
   * The names of required operations. An operation that is not required and not supported is left out with a warning.
   */
  readonly required: readonly string[]
}

/** Returns the file. Throws if a required operation is not supported. */
export function writeServerFile(
  document: ApiDocument,
  operations: readonly Operation[],
  { baseUrl = document.baseUrl, bearer, required }: ServerFileOptions,
): ServerFile {
  const prefix = environmentName(document.title)
  const schemas = new SchemaCode(document.root, new Set())
  const security = new SecurityCode(document.root, prefix, bearer)
  const kinds = new Set<BodyKind>()
  const warnings: string[] = []
  const names: string[] = []
  let hasInput = false
  const tools = operations.flatMap((operation) => {
    try {
      const plan = planRequest(operation, document)
      const tool = writeTool(operation, plan, { document, schemas, security })
      if (plan.body !== undefined) kinds.add(plan.body.kind)
      hasInput ||= plan.body !== undefined || plan.parameters.length > 0
      names.push(operation.name)
      return tool
    } catch (error) {
      if (!(error instanceof CliError) || required.includes(operation.name)) throw error
      warnings.push(`${operation.name} was left out: ${error.message}`)
      return []
    }
  })
  const baseVariable = `${prefix}_BASE_URL`
  const base =
    baseUrl === undefined
      ? `variable(${stringLiteral(baseVariable)})`
      : `process.env.${baseVariable} ?? ${stringLiteral(baseUrl)}`
  const name =
    document.title
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|(?<!-)-+$/g, '')
      .slice(0, 60) || 'api'
  const sections = [
    lineComment(
      `Written by \`mcpx openapi\` from ${document.title.slice(0, 80)} ${document.version.slice(0, 40)}. The file is yours: edit it as you like.`,
    ),
    `import { createServer, ToolError } from '@mcpx/server'${hasInput ? "\nimport * as z from 'zod'" : ''}`,
    `const baseUrl = ${base}`,
    ...schemas.definitions(),
    ...serverSections(name, document.version, tools),
    ...security.functions(),
    ...(baseUrl === undefined || security.variables.length > 0 ? [VARIABLE] : []),
    runtimeCode(kinds),
  ]
  return {
    code: `${sections.join('\n\n')}\n`,
    tools: names,
    variables: [baseVariable, ...security.variables],
    warnings: [...warnings, ...security.warnings],
  }
}

const VARIABLE = `/** Returns an environment variable. Credentials never come from arguments of tools. */
function variable(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new ToolError(\`The environment variable \${name} of the server is not set\`)
  return value
}`

interface ToolParts {
  readonly document: ApiDocument
  readonly schemas: SchemaCode
  readonly security: SecurityCode
}

const MAX_TITLE = 80

function writeTool(operation: Operation, plan: RequestPlan, { document, schemas, security }: ToolParts): string {
  const { name, source, method, path, deprecated } = operation
  const summary = shortDescription(source.summary)
  const texts = [summary, shortDescription(source.description)].filter((text) => text !== undefined)
  const description = [...new Set(texts)].join('. ').replaceAll('.. ', '. ') || `${method.toUpperCase()} ${path}`
  const properties = plan.parameters.map((parameter) => {
    const code = schemas.write(parameter.schema ?? {}, parameter.description)
    return [parameter.argument, parameter.required ? code : `${code}.optional()`] as const
  })
  const { body } = plan
  if (body !== undefined) {
    const code = schemas.write(body.schema ?? {}, body.description)
    properties.push([body.argument, body.required ? code : `${code}.optional()`])
  }
  const options: (readonly [string, string])[] = [
    ...(summary === undefined || summary.length > MAX_TITLE ? [] : [['title', stringLiteral(summary)] as const]),
    ['description', stringLiteral(deprecated ? `Deprecated. ${description}` : description)],
    ...(properties.length === 0 ? [] : [['input', call('z.strictObject', objectLiteral(properties))] as const]),
    ...annotationsOf(method),
  ]
  const request = requestOf(operation, plan, document, security)
  const parameters = properties.length === 0 ? '(_, { signal })' : '(input, { signal })'
  const handler = `${parameters} => callApi(${request})`
  const parts = [stringLiteral(name), objectLiteral(options), handler]
  return `.tool(\n${parts.map((code) => `  ${indented(code)},\n`).join('')})`
}

/** More tools than this are not written as one chain, because TypeScript would need too long to infer its type. */
const MAX_CHAIN = 40

function serverSections(name: string, version: string, tools: readonly string[]): string[] {
  const info = objectLiteral([
    ['name', stringLiteral(name)],
    ['version', stringLiteral(version.slice(0, 40) || '1.0.0')],
  ])
  const server = `export const server = createServer(${info})`
  if (tools.length > MAX_CHAIN) return [server, ...tools.map((tool) => `server${tool}`)]
  return [[server, ...tools.map(indented)].join('\n  ')]
}

/** Literals contain no line breaks, so every line can be indented. */
function indented(code: string): string {
  return code.replaceAll('\n', '\n  ')
}

/** Returns the annotations of a tool: GET only reads, PUT and DELETE can be repeated, and DELETE is destructive. */
function annotationsOf(method: Operation['method']): (readonly [string, string])[] {
  const hints = {
    get: ['readOnlyHint'],
    put: ['idempotentHint'],
    delete: ['destructiveHint', 'idempotentHint'],
    post: [],
    patch: [],
  }[method]
  return hints.length === 0 ? [] : [['annotations', objectLiteral(hints.map((hint) => [hint, 'true']))]]
}

function requestOf(
  { method, path }: Operation,
  { parameters, body, ...plan }: RequestPlan,
  document: ApiDocument,
  security: SecurityCode,
): string {
  const at = (place: Place) => parameters.filter((parameter) => parameter.place === place)
  const values = (key: string, list: readonly Parameter[]) =>
    list.length === 0
      ? []
      : [[key, objectLiteral(list.map((parameter) => parameterCode(parameter, document)))] as const]
  const functions = security.use(plan)
  return objectLiteral([
    ['method', stringLiteral(method.toUpperCase())],
    ['path', stringLiteral(path)],
    ...values('pathValues', at('path')),
    ...values('query', at('query')),
    ...values('headers', at('header')),
    ...values('cookies', at('cookie')),
    ...(body === undefined ? [] : [['body', bodyOf(body)] as const]),
    ...(functions === '' ? [] : [['security', functions] as const]),
    { code: 'signal' },
  ])
}

/** Returns the entry for a parameter, encoded in its style. */
function parameterCode(
  { argument, name, place, json, style, explode, schema }: Parameter,
  { root }: ApiDocument,
): Member {
  const value = memberOf('input', argument)
  if (json) return [name, `${value} === undefined ? undefined : JSON.stringify(${value})`]
  const type = typeOf(schema, root)
  if (place !== 'query') return [name, value]
  if (type === 'array' && style === 'deepObject') return [`${name}[]`, value]
  if (type === 'array' && !explode) {
    const separator = { spaceDelimited: ' ', pipeDelimited: '|' }[style] ?? ','
    return [name, `${value}?.join(${stringLiteral(separator)})`]
  }
  if (type === 'object' && style === 'form' && explode) return { code: `...Object(${value})` }
  return [name, value]
}

function typeOf(schema: unknown, root: unknown): unknown {
  if (!isObject(schema)) return undefined
  const { type, anyOf, oneOf, nullable } = dereference(schema, root, 'parameters')
  return anyOf === undefined && oneOf === undefined && nullable !== true ? type : undefined
}

function bodyOf({ argument, kind, contentType }: RequestBody): string {
  const value = memberOf('input', argument)
  const isTyped = kind === 'json' || kind === 'text'
  return isTyped ? call(`${kind}Body`, value, stringLiteral(contentType)) : call(`${kind}Body`, value)
}

/** Returns the beginning of the names of environment variables, such as `PETSTORE`. */
function environmentName(title: string): string {
  const words = title.replace(/['’]s?\b/g, '').match(/[A-Za-z0-9]+/g) ?? []
  const name = words
    .filter((word) => !/^(?:api|rest|openapi|the|v\d+)$/i.test(word))
    .slice(0, 3)
    .join('_')
    .toUpperCase()
  return /^[A-Z]/.test(name) ? name.slice(0, 40) : 'API'
}

/** Throws if no operation has one of the names. */
export function chooseOperations(operations: readonly Operation[], names: readonly string[]): Operation[] {
  return names.map((wanted) => {
    const found = operations.find(({ name, id, method, path }) =>
      [name, id, `${method.toUpperCase()} ${path}`].includes(wanted),
    )
    if (found !== undefined) return found
    const remedy = 'List the operations by leaving out --operation.'
    throw new CliError(
      'usage',
      `--operation: expected an operation of the description, got ${JSON.stringify(wanted)}`,
      remedy,
    )
  })
}
