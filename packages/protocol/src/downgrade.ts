/**
 * Adapts results and parameters for older revisions. Rules name the revision that added each member, so that newer
 * members are removed. Conversions replace newer content.
 */

import { isObject } from './json.ts'
import type { JsonObject } from './messages.ts'
import { type CapabilityTable, eraOf, eraTables, type Revision } from './methods.ts'

/** Adapts a result for a revision. Returns the same object if nothing changes; the input is never modified. */
export function stripFor<T extends object>(revision: Revision, method: string, result: T): T {
  if (eraOf(revision) === 'modern') return result
  return strip(ruleFor(resultRules, method) ?? plainResult, result, revision) as T
}

/** Adapts the parameters of a request or notification for a revision. Same behaviour as `stripFor`. */
export function stripParamsFor<T extends object>(revision: Revision, method: string, params: T): T {
  if (eraOf(revision) === 'modern') return params
  return strip(ruleFor(paramsRules, method), params, revision) as T
}

// Rules

/** A rule for an object, or for each item of an array of objects. */
interface Rule {
  /** Members that were added later, with the revision that added them. */
  readonly since?: Readonly<Record<string, Revision>>
  /** Rules for members. */
  readonly within?: Readonly<Record<string, Rule>>
  /**
   * Converts the object, if removing members is not enough. Runs before members are removed. Returns the same object if
   * nothing changes.
   */
  readonly becomes?: (value: JsonObject, revision: Revision) => JsonObject | JsonObject[]
  /** The first revision that does not need `becomes`. */
  readonly before?: Revision
}

type Rules = Readonly<Record<string, Rule>>

const R2025_03_26 = '2025-03-26'
const R2025_06_18 = '2025-06-18'
const R2025_11_25 = '2025-11-25'
const R2026_07_28 = '2026-07-28'

const retry = { inputResponses: R2026_07_28, requestState: R2026_07_28 } as const
const task = { task: R2025_11_25 } as const

const named = { title: R2025_06_18 } as const
const listed = { ...named, icons: R2025_11_25, _meta: R2025_06_18 } as const
const annotations: Rule = { since: { lastModified: R2025_06_18 } }
const implementation: Rule = {
  since: { ...named, icons: R2025_11_25, websiteUrl: R2025_11_25, description: R2025_11_25 },
}
const resource: Rule = { since: listed, within: { annotations } }
const contents: Rule = { since: { _meta: R2025_06_18 } }

/** A content block. `title` of resource links needs no rule, because revisions without it have no resource links. */
const block: Rule = {
  since: { _meta: R2025_06_18, icons: R2025_11_25 },
  within: { annotations, resource: contents },
  becomes: oldBlock,
  before: R2025_06_18,
}
// Unlike other blocks, `tool_result` needs a conversion in all legacy revisions: its structured content must be an object.
const sampledBlock: Rule = { ...block, before: R2026_07_28 }

const tool: Rule = {
  since: { ...listed, annotations: R2025_03_26, outputSchema: R2025_06_18, execution: R2025_11_25 },
  becomes: oldToolSchemas,
  before: R2026_07_28,
}
const prompt: Rule = { since: listed, within: { arguments: { since: named } } }
const message: Rule = {
  since: { _meta: R2025_11_25 },
  within: { content: sampledBlock },
  becomes: oldMessages,
  before: R2025_11_25,
}

const plainResult: Rule = { since: { resultType: R2026_07_28, ttlMs: R2026_07_28, cacheScope: R2026_07_28 } }

const resultRules: Rules = {
  initialize: result({ within: { capabilities: capabilities('server'), serverInfo: implementation } }),
  'tools/list': result({ within: { tools: tool } }),
  'tools/call': result({
    since: { structuredContent: R2025_06_18 },
    within: { content: block },
    becomes: oldToolResult,
    before: R2026_07_28,
  }),
  'resources/list': result({ within: { resources: resource } }),
  'resources/templates/list': result({ within: { resourceTemplates: resource } }),
  'resources/read': result({ within: { contents } }),
  'prompts/list': result({ within: { prompts: prompt } }),
  'prompts/get': result({ within: { messages: { within: { content: block } } } }),
  'sampling/createMessage': result({ within: { content: sampledBlock }, becomes: oldSampled, before: R2025_11_25 }),
  'roots/list': result({ within: { roots: { since: { _meta: R2025_06_18 } } } }),
}

const paramsRules: Rules = {
  initialize: { within: { capabilities: capabilities('client'), clientInfo: implementation } },
  'tools/call': { since: { ...retry, ...task } },
  'resources/read': { since: retry },
  'prompts/get': { since: retry },
  'completion/complete': { since: { context: R2025_06_18 }, within: { ref: { since: named } } },
  'sampling/createMessage': {
    since: { ...task, tools: R2025_11_25, toolChoice: R2025_11_25 },
    within: { messages: message, tools: tool },
  },
  'elicitation/create': {
    since: { ...task, mode: R2025_11_25 },
    within: { requestedSchema: { since: { $schema: R2025_11_25 }, becomes: oldForm, before: R2025_11_25 } },
  },
  'notifications/progress': { since: { message: R2025_03_26 } },
}

function ruleFor(rules: Rules, method: string): Rule | undefined {
  return Object.hasOwn(rules, method) ? rules[method] : undefined
}

function result(rule: Rule): Rule {
  return { ...rule, since: { ...plainResult.since, ...rule.since } }
}

/** Creates the rule for capabilities from the capability table. Deeper paths were added together with their parents. */
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
  // `lastChange` includes nested rules, so recent revisions return here without copying or walking the value.
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

/** Returns the first revision for which a rule, with its nested rules, changes nothing. */
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

/** The revision that added each block type. All other types exist since the first revision. */
const blockSince: Readonly<Record<string, Revision>> = {
  audio: R2025_03_26,
  resource_link: R2025_06_18,
  tool_use: R2025_11_25,
  tool_result: R2025_11_25,
}

/** Converts a block of a type that the revision does not have to a text block. */
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

/** Removes structured content that is not an object, because legacy revisions allow only objects. */
function oldToolResult(result: JsonObject): JsonObject {
  return 'structuredContent' in result && !isObject(asJson(result.structuredContent))
    ? without(result, 'structuredContent')
    : result
}

/** Returns the result of `toJSON` for values that have it, such as dates; otherwise the value itself. */
function asJson(value: unknown): unknown {
  const toJSON = (value as { readonly toJSON?: unknown } | null | undefined)?.toJSON
  return typeof toJSON === 'function' ? toJSON.call(value, 'structuredContent') : value
}

/**
 * Removes an output schema that does not describe an object, and replaces boolean schemas of properties. Legacy clients
 * refuse the whole tool list if one tool has these.
 */
function oldToolSchemas(tool: JsonObject): JsonObject {
  const { inputSchema, outputSchema } = tool
  const input = oldSchema(inputSchema)
  const output = isObject(outputSchema) && outputSchema.type === 'object' ? oldSchema(outputSchema) : undefined
  if (input === inputSchema && output === outputSchema) return tool
  const changed = { ...tool, inputSchema: input }
  return output === undefined ? without(changed, 'outputSchema') : { ...changed, outputSchema: output }
}

/** Replaces `true` and `false` as schemas of properties with objects of the same meaning. */
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

/** Splits a message into one message per block. */
function oldMessages(message: JsonObject): JsonObject | JsonObject[] {
  const { content } = message
  return Array.isArray(content) ? content.map((block: unknown) => ({ ...message, content: block })) : message
}

/** Joins the blocks of a sampled message into one text block, because older revisions allow only one block. */
function oldSampled(result: JsonObject): JsonObject {
  const { content } = result
  if (!Array.isArray(content)) return result
  const text = { type: 'text', text: content.map((block) => textFor(block as JsonObject)).join('\n') }
  return { ...result, content: content.length === 1 ? content[0] : text }
}

/**
 * Converts a form. Before 2025-11-25, forms had no multi-select fields, kept option titles in `enumNames`, and allowed
 * defaults only for booleans.
 */
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
