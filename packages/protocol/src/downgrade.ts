/**
 * Removes or converts what an older revision does not have: the rules say which members of results and parameters came
 * with which revision, the conversions what newer content becomes.
 */

import { isObject } from './json.ts'
import type { JsonObject } from './messages.ts'
import { type CapabilityTable, eraOf, eraTables, type Revision } from './methods.ts'

/** A result for a peer of a revision: the same object if nothing has to change. The input is never changed. */
export function stripFor<T extends object>(revision: Revision, method: string, result: T): T {
  if (eraOf(revision) === 'modern') return result
  return strip(ruleFor(resultRules, method) ?? plainResult, result, revision) as T
}

/** The parameters of a request or notification for a peer of a revision, likewise. */
export function stripParamsFor<T extends object>(revision: Revision, method: string, params: T): T {
  if (eraOf(revision) === 'modern') return params
  return strip(ruleFor(paramsRules, method), params, revision) as T
}

// Rules

/** What to do with one object, or with each item of an array. */
interface Rule {
  /** Members that were added later, with the revision that added them. */
  readonly since?: Readonly<Record<string, Revision>>
  /** Members with rules of their own. */
  readonly within?: Readonly<Record<string, Rule>>
  /**
   * Where removing members is not enough: what the object becomes. Returns the object itself if nothing has to
   * change.
   */
  readonly becomes?: (value: JsonObject, revision: Revision) => JsonObject | JsonObject[]
  /** `becomes` applies to revisions before this one. */
  readonly before?: Revision
}

type Rules = Readonly<Record<string, Rule>>

const MARCH = '2025-03-26'
const JUNE = '2025-06-18'
const NOVEMBER = '2025-11-25'
const MODERN = '2026-07-28'

const retry = { inputResponses: MODERN, requestState: MODERN } as const
const task = { task: NOVEMBER } as const

const named = { title: JUNE } as const
const listed = { ...named, icons: NOVEMBER, _meta: JUNE } as const
const annotations: Rule = { since: { lastModified: JUNE } }
const implementation: Rule = { since: { ...named, icons: NOVEMBER, websiteUrl: NOVEMBER, description: NOVEMBER } }
const resource: Rule = { since: listed, within: { annotations } }
const contents: Rule = { since: { _meta: JUNE } }

/** `icons` is a member of resource links, which are not blocks at all before the revision that has `title`. */
const block: Rule = {
  since: { _meta: JUNE, icons: NOVEMBER },
  within: { annotations, resource: contents },
  becomes: oldBlock,
  before: JUNE,
}
const sampledBlock: Rule = { ...block, before: MODERN }

const tool: Rule = {
  since: { ...listed, annotations: MARCH, outputSchema: JUNE, execution: NOVEMBER },
  becomes: oldToolSchemas,
  before: MODERN,
}
const prompt: Rule = { since: listed, within: { arguments: { since: named } } }
const message: Rule = {
  since: { _meta: NOVEMBER },
  within: { content: sampledBlock },
  becomes: oldMessages,
  before: NOVEMBER,
}

const plainResult: Rule = { since: { resultType: MODERN, ttlMs: MODERN, cacheScope: MODERN } }

const resultRules: Rules = {
  initialize: result({ within: { capabilities: capabilities('server'), serverInfo: implementation } }),
  'tools/list': result({ within: { tools: tool } }),
  'tools/call': result({
    since: { structuredContent: JUNE },
    within: { content: block },
    becomes: oldToolResult,
    before: MODERN,
  }),
  'resources/list': result({ within: { resources: resource } }),
  'resources/templates/list': result({ within: { resourceTemplates: resource } }),
  'resources/read': result({ within: { contents } }),
  'prompts/list': result({ within: { prompts: prompt } }),
  'prompts/get': result({ within: { messages: { within: { content: block } } } }),
  'sampling/createMessage': result({ within: { content: sampledBlock }, becomes: oldSampled, before: NOVEMBER }),
  'roots/list': result({ within: { roots: { since: { _meta: JUNE } } } }),
}

const paramsRules: Rules = {
  initialize: { within: { capabilities: capabilities('client'), clientInfo: implementation } },
  'tools/call': { since: { ...retry, ...task } },
  'resources/read': { since: retry },
  'prompts/get': { since: retry },
  'completion/complete': { since: { context: JUNE }, within: { ref: { since: named } } },
  'sampling/createMessage': {
    since: { ...task, tools: NOVEMBER, toolChoice: NOVEMBER },
    within: { messages: message, tools: tool },
  },
  'elicitation/create': {
    since: { ...task, mode: NOVEMBER },
    within: { requestedSchema: { since: { $schema: NOVEMBER }, becomes: oldForm, before: NOVEMBER } },
  },
  'notifications/progress': { since: { message: MARCH } },
}

function ruleFor(rules: Rules, method: string): Rule | undefined {
  return Object.hasOwn(rules, method) ? rules[method] : undefined
}

function result(rule: Rule): Rule {
  return { ...rule, since: { ...plainResult.since, ...rule.since } }
}

/** The capability table says when each capability came. Paths of more than two names came with their parents. */
function capabilities(side: keyof CapabilityTable): Rule {
  const since: Record<string, Revision> = {}
  const within: Record<string, { since: Record<string, Revision> }> = {}
  for (const [path, span] of Object.entries(eraTables.legacy.capabilities[side])) {
    const [name = '', inner] = path.split('.')
    if (span.since === undefined) continue
    if (inner === undefined) since[name] = span.since
    else {
      within[name] ??= { since: {} }
      within[name].since[inner] = span.since
    }
  }
  return { since, within }
}

// Applying a rule

function strip(rule: Rule | undefined, value: unknown, revision: Revision): unknown {
  if (rule === undefined || typeof value !== 'object' || value === null || revision >= lastChange(rule)) return value
  if (Array.isArray(value)) return stripItems(rule, value, revision)
  const { becomes, before } = rule
  const changed = becomes && before && revision < before ? becomes(value as JsonObject, revision) : value
  if (!Array.isArray(changed)) return stripMembers(rule, changed as JsonObject, revision)
  return changed.map((each) => stripMembers(rule, each, revision))
}

function stripItems(rule: Rule, items: readonly unknown[], revision: Revision): readonly unknown[] {
  const stripped = items.map((item) => strip(rule, item, revision))
  return stripped.some((item, index) => item !== items[index]) ? stripped.flat() : items
}

function stripMembers({ since, within }: Rule, value: JsonObject, revision: Revision): JsonObject {
  let copy: JsonObject | undefined
  for (const [key, added] of Object.entries(since ?? {})) {
    if (Object.hasOwn(value, key) && revision < added) {
      copy ??= { ...value }
      delete copy[key]
    }
  }
  for (const [key, rule] of Object.entries(within ?? {})) {
    const member = (copy ?? value)[key]
    const stripped = strip(rule, member, revision)
    if (stripped !== member) {
      copy ??= { ...value }
      copy[key] = stripped
    }
  }
  return copy ?? value
}

const lastChanges = new WeakMap<Rule, string>()

/** The revision from which on a rule has no effect. */
function lastChange(rule: Rule): string {
  let last = lastChanges.get(rule)
  if (last === undefined) {
    const inner = Object.values(rule.within ?? {}).map(lastChange)
    last = [...Object.values(rule.since ?? {}), ...inner, rule.before ?? ''].sort().at(-1) as string
    lastChanges.set(rule, last)
  }
  return last
}

// Conversions

/** The revision that added a kind of block; the others were there from the first one on. */
const blockSince: Readonly<Record<string, Revision>> = {
  audio: MARCH,
  resource_link: JUNE,
  tool_use: NOVEMBER,
  tool_result: NOVEMBER,
}

/** Blocks that a revision does not have become text. */
function oldBlock(block: JsonObject, revision: Revision): JsonObject {
  const type = `${block.type}`
  const isTooNew = Object.hasOwn(blockSince, type) && revision < (blockSince[type] as Revision)
  if (!isTooNew) return type === 'tool_result' ? oldToolResult(block) : block
  const text = { type: 'text', text: textFor(block) }
  return block.annotations === undefined ? text : { ...text, annotations: block.annotations }
}

function textFor(block: JsonObject): string {
  switch (block.type) {
    case 'text':
      return `${block.text}`
    case 'image':
    case 'audio':
      return `[${block.type} left out: ${block.mimeType}]`
    case 'resource_link':
      return `${block.title ?? block.name}: ${block.uri}`
    default:
      return JSON.stringify(block)
  }
}

/** Structured content was always an object before the modern era. */
function oldToolResult(result: JsonObject): JsonObject {
  return 'structuredContent' in result && !isObject(asJson(result.structuredContent))
    ? without(result, 'structuredContent')
    : result
}

/** The value that JSON has for a value with a `toJSON`, such as a date. */
function asJson(value: unknown): unknown {
  const toJSON = (value as { readonly toJSON?: unknown } | null | undefined)?.toJSON
  return typeof toJSON === 'function' ? toJSON.call(value, 'structuredContent') : value
}

/**
 * Output schemas described objects only, and the schema of a property was always an object. Older peers refuse a whole
 * list for one tool that differs.
 */
function oldToolSchemas(tool: JsonObject): JsonObject {
  const { inputSchema, outputSchema } = tool
  const input = oldSchema(inputSchema)
  const output = isObject(outputSchema) && outputSchema.type === 'object' ? oldSchema(outputSchema) : undefined
  if (input === inputSchema && output === outputSchema) return tool
  const changed = { ...tool, inputSchema: input }
  return output === undefined ? without(changed, 'outputSchema') : { ...changed, outputSchema: output }
}

/** `true` and `false` as schemas of properties become objects with the same meaning. */
function oldSchema(schema: unknown): unknown {
  if (!isObject(schema) || !isObject(schema.properties)) return schema
  const properties = Object.entries(schema.properties)
  if (!properties.some(([, property]) => typeof property === 'boolean')) return schema
  const changed = properties.map(([name, property]) => {
    if (typeof property !== 'boolean') return [name, property]
    return [name, property ? {} : { not: {} }]
  })
  return { ...schema, properties: Object.fromEntries(changed) }
}

/** A message had one block: one with several becomes several messages. */
function oldMessages(message: JsonObject): JsonObject | JsonObject[] {
  const { content } = message
  return Array.isArray(content) ? content.map((block: unknown) => ({ ...message, content: block })) : message
}

/** A sampled message had one block: several become one of text. */
function oldSampled(result: JsonObject): JsonObject {
  const { content } = result
  if (!Array.isArray(content)) return result
  const text = { type: 'text', text: content.map((block) => textFor(block as JsonObject)).join('\n') }
  return { ...result, content: content.length === 1 ? content[0] : text }
}

/** Forms had no fields for several values, titles in a list of their own, and defaults for booleans only. */
function oldForm(form: JsonObject): JsonObject {
  if (!isObject(form.properties)) return form
  const fields = Object.entries(form.properties)
  const kept = fields.flatMap(([name, field]) => {
    const old = isObject(field) ? oldField(field) : field
    return old === undefined ? [] : ([[name, old]] as [string, unknown][])
  })
  if (kept.length === fields.length && kept.every(([, old], index) => old === fields[index]?.[1])) return form
  const properties = Object.fromEntries(kept)
  if (!Array.isArray(form.required)) return { ...form, properties }
  return { ...form, properties, required: form.required.filter((name) => Object.hasOwn(properties, name)) }
}

function oldField(field: JsonObject): JsonObject | undefined {
  if (field.type === 'array') return undefined
  const plain = 'default' in field && field.type !== 'boolean' ? without(field, 'default') : field
  if (!Array.isArray(plain.oneOf)) return plain
  const options = plain.oneOf as JsonObject[]
  return {
    ...without(plain, 'oneOf'),
    enum: options.map((option) => option.const),
    enumNames: options.map((option) => option.title),
  }
}

function without(value: JsonObject, key: string): JsonObject {
  const { [key]: _, ...rest } = value
  return rest
}
