/** Two tools for models: one loads a skill, the other reads a file of a skill. */

import { type CallToolResult, type JsonObject, kindOf, quoted, type Tool } from '@mcpx/protocol'
import { toBase64 } from '../bytes.ts'
import type { Skill } from '../skill.ts'
import type { SkillCallOptions } from './library.ts'
import type { RegisteredSkill, SkillRegistry } from './registry.ts'

/**
 * A source of tools, for `createToolset` of `@mcpx/toolset` or for your own agent loop. A connected client implements
 * this interface.
 */
export interface SkillTools {
  /** Lists the tools. */
  listTools(): { all(): Promise<Tool[]> }
  /** Calls a tool. If a skill cannot be read, returns a result with `isError`, so that the model can react. */
  callTool(name: string, args: JsonObject, options?: SkillCallOptions): Promise<CallToolResult>
  /** Opens a stream of changes. */
  listen?(filter: { toolsListChanged: boolean }): AsyncIterable<unknown> & { close(): void }
}

/** The largest number of skills in the description of `read_skill`. */
const MAX_LISTED = 200
/** The longest description of a skill, in characters. */
const MAX_DESCRIPTION = 1_024
/** The longest text for a model, in characters. Models accept less than the 16 MiB that a file may have. */
const MAX_TEXT = 200_000
/** The largest number of file names after the instructions of a skill. */
const MAX_FILES = 100

/**
 * Returns the tools `read_skill` and `read_skill_file`. The description of `read_skill` lists the skills that can be
 * loaded: the approved skills, or all skills if the registry asks for approvals.
 *
 * ```ts
 * const tools = aiSdkTools(await createToolset(skillTools(registry, all)), { jsonSchema })
 * ```
 *
 * @param others additional tools, such as a connected client. Default: none
 */
export function skillTools(registry: SkillRegistry, others?: SkillTools): SkillTools {
  const own = { read_skill: readSkill, read_skill_file: readSkillFile }
  const isOwn = (name: string): name is keyof typeof own => Object.hasOwn(own, name)
  return {
    listTools: () => ({
      async all() {
        const listed = (await others?.listTools().all()) ?? []
        return [...defineTools(await registry.list(), registry.canAsk), ...listed.filter(({ name }) => !isOwn(name))]
      },
    }),
    async callTool(name, args, options) {
      if (!isOwn(name)) {
        if (others === undefined) throw new TypeError(`callTool: there is no tool ${quoted(name)}`)
        return others.callTool(name, args, options)
      }
      try {
        return { content: await own[name](registry, args, options) }
      } catch (error) {
        options?.signal?.throwIfAborted()
        return { content: [{ type: 'text', text: (error as Error).message }], isError: true }
      }
    },
    ...(others?.listen && { listen: (filter) => others.listen?.(filter) as never }),
  }
}

function defineTools(skills: readonly RegisteredSkill[], canAsk: boolean): Tool[] {
  const loadable = skills.filter(({ isApproved }) => isApproved || canAsk)
  const lines = loadable.slice(0, MAX_LISTED).map(({ name, skill }) => {
    // Remove line breaks, so that a description cannot look like another skill.
    const description = skill.frontmatter.description.replace(/\s+/g, ' ').trim()
    return `- ${name}: ${description.slice(0, MAX_DESCRIPTION)}`
  })
  if (loadable.length > MAX_LISTED) lines.push(`- and ${loadable.length - MAX_LISTED} more`)
  const list = lines.length === 0 ? 'There are no skills now.' : `The skills are:\n${lines.join('\n')}`
  const name = { type: 'string', description: 'The name of the skill, such as server/skill' } as const
  const file = { type: 'string', description: 'The path in the skill, such as references/FORMS.md' } as const
  const define = (tool: string, description: string, properties: Record<string, JsonObject>): Tool => ({
    name: tool,
    description,
    inputSchema: { type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
    annotations: { readOnlyHint: true },
  })
  const purpose = 'Loads the instructions of a skill. Call it before you start a task that one of these skills covers.'
  return [
    define('read_skill', `${purpose} ${list}`, { name }),
    define('read_skill_file', 'Reads a file that the instructions of a skill refer to.', { name, file }),
  ]
}

type Content = CallToolResult['content']

async function readSkill(registry: SkillRegistry, args: JsonObject, options?: SkillCallOptions): Promise<Content> {
  const { name, server, skill, body } = await registry.load(readString(args, 'name'), options)
  const origin = `The instructions of the skill ${quoted(name)} follow. They come from the server ${quoted(server)}.`
  const files = filesOf(skill)
  const shown = files.slice(0, MAX_FILES).join(', ')
  const more = files.length > MAX_FILES ? ` and ${files.length - MAX_FILES} more` : ''
  const list = `Files of this skill, for read_skill_file: ${shown}${more}`
  return [origin, limitText(body), ...(files.length === 0 ? [] : [list])].map((text) => ({ type: 'text', text }))
}

/** Returns the paths of the files beside the `SKILL.md`. */
function filesOf({ uri, resources }: Skill): string[] {
  if (resources === 'dynamic') return []
  const directory = uri.slice(0, uri.lastIndexOf('/') + 1)
  return resources.filter((file) => file.uri !== uri).map((file) => file.uri.slice(directory.length))
}

async function readSkillFile(registry: SkillRegistry, args: JsonObject, options?: SkillCallOptions): Promise<Content> {
  const [name, reference] = [readString(args, 'name'), readString(args, 'file')]
  const { text, bytes, mimeType = 'application/octet-stream' } = await registry.read(name, reference, options)
  if (text !== undefined) return [{ type: 'text', text: limitText(text) }]
  if (mimeType.startsWith('image/')) return [{ type: 'image', data: toBase64(bytes), mimeType }]
  return [{ type: 'text', text: `The file has ${bytes.length} bytes of type ${mimeType}, which are not text.` }]
}

function limitText(text: string): string {
  if (text.length <= MAX_TEXT) return text
  return `${text.slice(0, MAX_TEXT)}\n[The text was cut here: it has ${text.length} characters, and the limit is ${MAX_TEXT}.]`
}

function readString(args: JsonObject, name: string): string {
  const value = args[name]
  if (typeof value === 'string') return value
  throw new TypeError(`arguments.${name}: expected string, got ${kindOf(value)}`)
}
