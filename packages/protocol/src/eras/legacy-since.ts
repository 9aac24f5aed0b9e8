/** What came when: the members of results and parameters that an older revision does not have. */

import type { JsonObject } from '../schema/primitives.ts'
import type { Revision } from '../versions.ts'
import type { Span } from './era.ts'
import { legacyCapabilities } from './legacy.ts'
import { oldBlock, oldForm, oldMessages, oldSampled, oldToolResult, oldToolSchemas } from './legacy-degrade.ts'

/** What to do with one object, or with each item of an array. */
export interface Rule {
  /** Members that came later, and with which revision. */
  since?: Readonly<Record<string, Revision>>
  /** Members with rules of their own. */
  within?: Readonly<Record<string, Rule>>
  /** Where leaving members out is not enough: what the object becomes. The object itself if nothing has to change. */
  becomes?: (value: JsonObject, revision: Revision) => JsonObject | JsonObject[]
  /** From this revision on `becomes` has nothing to do. */
  before?: Revision
}

type Rules = Readonly<Record<string, Rule>>

const MARCH = '2025-03-26'
const JUNE = '2025-06-18'
const NOVEMBER = '2025-11-25'
const MODERN = '2026-07-28'

const retry = { inputResponses: MODERN, requestState: MODERN } as const
const task = { task: NOVEMBER } as const

const newest = { resultType: MODERN, ttlMs: MODERN, cacheScope: MODERN } as const

const named = { title: JUNE } as const
const listed = { ...named, icons: NOVEMBER, _meta: JUNE } as const
const annotations: Rule = { since: { lastModified: JUNE } }
const implementation: Rule = { since: { ...named, icons: NOVEMBER, websiteUrl: NOVEMBER, description: NOVEMBER } }
const resource: Rule = { since: listed, within: { annotations } }
const contents: Rule = { since: { _meta: JUNE } }

/** `icons` is a member of resource links, which are no blocks at all before the revision that has `title`. */
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

const makeResults = (): Rules => ({
  initialize: result({
    within: { capabilities: capabilities(legacyCapabilities.server), serverInfo: implementation },
  }),
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
})
const plainResult: Rule = { since: newest }

const makeParams = (): Rules => ({
  initialize: { within: { capabilities: capabilities(legacyCapabilities.client), clientInfo: implementation } },
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
})

// Made for the first older peer: they are a third of what it takes to begin.
let results: Rules | undefined
let params: Rules | undefined

/** What has to go from the result of a method. */
export function ruleOfResult(method: string): Rule {
  results ??= makeResults()
  return (Object.hasOwn(results, method) ? results[method] : undefined) ?? plainResult
}

/** What has to go from the parameters of a method, if anything. */
export function ruleOfParams(method: string): Rule | undefined {
  params ??= makeParams()
  return Object.hasOwn(params, method) ? params[method] : undefined
}

function result(rule: Rule): Rule {
  return { ...rule, since: { ...newest, ...rule.since } }
}

/** The era table says when each capability came. Those of the tables have one dot at most where it matters. */
function capabilities(spans: Readonly<Record<string, Span>>): Rule {
  const since: Record<string, Revision> = {}
  const within: Record<string, { since: Record<string, Revision> }> = {}
  for (const [path, span] of Object.entries(spans)) {
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
