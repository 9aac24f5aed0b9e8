/** Replaces many tools by two: the model searches for a tool, then calls it. */
import { checkArray, checkLimit, checkOptions, checkToolset } from './checks.ts'
import { errorResult, type ToolResult } from './results.ts'
import { isString, objectOf } from './schemas/json.ts'
import { prepareArguments, type ToolInfo, type Toolset, unknownTool } from './toolset.ts'

/** The options of `searchTools`. */
export interface SearchOptions {
  /** The names of tools that the model can call directly, in addition to the two tools. Default: none. */
  readonly direct?: readonly string[] | undefined
  /** How many tools a search returns. Default: 5. */
  readonly maxResults?: number | undefined
}

const search: ToolInfo = {
  name: 'search_tools',
  description:
    'Finds tools by words that describe the task. Returns their names, descriptions and input schemas. Then use call_tool to call one of them.',
  inputSchema: {
    type: 'object',
    properties: { query: { type: 'string', description: 'Words that describe the task, in English' } },
    required: ['query'],
    additionalProperties: false,
  } as ToolInfo['inputSchema'],
}

const call: ToolInfo = {
  name: 'call_tool',
  description: 'Calls a tool that search_tools found.',
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'The name of the tool' },
      arguments: { type: 'object', description: 'The arguments, which fit the input schema of the tool' },
    },
    required: ['name'],
    additionalProperties: false,
  } as ToolInfo['inputSchema'],
}

/**
 * Returns a toolset with the tools `search_tools` and `call_tool`. With them, a model can use all tools of another
 * toolset.
 */
export function searchTools(toolset: Toolset, options: SearchOptions = {}): Toolset {
  checkToolset('searchTools', toolset)
  checkOptions('searchTools', options, ['direct', 'maxResults'])
  const { direct = [], maxResults = 5 } = options
  checkArray('searchTools: direct', direct)
  checkLimit('searchTools: maxResults', maxResults)
  return {
    get tools() {
      const offered = direct.map((name) => [name, toolset.tools.get(name)] as const)
      const present = offered.filter((entry): entry is [string, ToolInfo] => entry[1] !== undefined)
      return new Map([[search.name, search], [call.name, call], ...present])
    },
    refresh: () => toolset.refresh(),
    close: () => toolset.close(),
    async call(name, args, callOptions = {}) {
      if (name !== search.name && name !== call.name) {
        return direct.includes(name) ? toolset.call(name, args, callOptions) : unknownTool(name, this.tools)
      }
      const { dialect, ...others } = callOptions
      const prepared = prepareArguments(name, name === search.name ? search : call, args, dialect)
      if ('error' in prepared) return errorResult(prepared.error)
      if (name === search.name) return searchResult(toolset.tools, prepared.args.query, maxResults)
      const { name: tool, arguments: toolArguments } = prepared.args
      if (!isString(tool)) return errorResult('call_tool: name: expected a string, the name of a tool')
      return toolset.call(tool, toolArguments ?? {}, others)
    },
  }
}

function searchResult(tools: ReadonlyMap<string, ToolInfo>, query: unknown, maxResults: number): ToolResult {
  if (!isString(query)) return errorResult('search_tools: query: expected a string, words that describe the task')
  const found = rankTools(tools, query).slice(0, maxResults)
  const definitions = found.map((name) => {
    const { description, title, inputSchema } = tools.get(name) as ToolInfo
    return { name, description: description ?? title, inputSchema }
  })
  const text = found.length === 0 ? `No tool fits "${query}". Try other words.` : JSON.stringify(definitions)
  return { content: [{ type: 'text', text }] }
}

// Ranking

const NAME_WEIGHT = 3
const PREFIX_FACTOR = 0.5
const MIN_PREFIX = 3

/**
 * Returns the names of the tools that contain a word of the query, best first. A word in the name counts more than a
 * word in the description, and a rare word counts more than a frequent word. Tools of the same rank keep their order.
 */
export function rankTools(tools: ReadonlyMap<string, ToolInfo>, query: string): readonly string[] {
  const documents = [...tools].map(([name, tool]) => ({ name, weights: weightsOf(name, tool) }))
  const scores = new Map<string, number>()
  for (const word of new Set(wordsOf(query))) {
    const matches = documents.map(({ name, weights }) => ({ name, weight: weightOfWord(word, weights) }))
    const hits = matches.filter(({ weight }) => weight > 0)
    const rarity = Math.log(1 + documents.length / Math.max(hits.length, 1))
    for (const { name, weight } of hits) scores.set(name, (scores.get(name) ?? 0) + weight * rarity)
  }
  const scoreOf = (name: string) => scores.get(name) ?? 0
  const found = [...tools.keys()].filter((name) => scores.has(name))
  return found.sort((one, other) => scoreOf(other) - scoreOf(one))
}

function weightsOf(name: string, { title = '', description = '', inputSchema }: ToolInfo): ReadonlyMap<string, number> {
  const { properties } = objectOf(inputSchema)
  const weights = new Map<string, number>()
  for (const word of wordsOf([title, description, ...Object.keys(objectOf(properties))].join(' '))) weights.set(word, 1)
  for (const word of wordsOf(name)) weights.set(word, NAME_WEIGHT)
  return weights
}

/**
 * Returns the weight of a word of the query. Equal words have the full weight. If one word begins with the other, such
 * as `file` and `files`, the weight is smaller.
 */
function weightOfWord(word: string, weights: ReadonlyMap<string, number>): number {
  const exact = weights.get(word)
  if (exact !== undefined || word.length < MIN_PREFIX) return exact ?? 0
  const similar = [...weights].filter(
    ([other]) => other.length >= MIN_PREFIX && (other.startsWith(word) || word.startsWith(other)),
  )
  return Math.max(0, ...similar.map(([, weight]) => weight * PREFIX_FACTOR))
}

/** Splits `readFile_v2` into `read`, `file`, `v2`. */
function wordsOf(text: string): readonly string[] {
  const spaced = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase()
  return spaced.match(/[\p{L}\p{N}]+/gu) ?? []
}
