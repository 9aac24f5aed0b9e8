/** Completes lines of the shell of `mcpx`: tools, arguments, values, resources and prompts. */

import type { Client } from '@mcpx/client'
import { propertySchema, viewOf } from './schema-view.ts'
import { splitWords } from './words.ts'

const COMMANDS = ['call', 'exit', 'help', 'list', 'prompt', 'read']

/**
 * Returns the words that can continue the line, and the part of the line that they replace. This is the format of
 * `node:readline`.
 */
export async function completeLine(line: string, client: Client): Promise<[completions: string[], replaced: string]> {
  const { words, unfinished } = splitWords(line)
  const before = unfinished === '' ? words : words.slice(0, -1)
  const found = await candidates(before, unfinished, client).catch(() => [])
  return [found.filter((each) => each.startsWith(unfinished)), unfinished]
}

/**
 * Returns the words that may follow, such as names of tools, or arguments that are not in the line yet.
 *
 * @param words the words before the cursor, beginning with `call`, `read` or `prompt`
 */
export async function completeWord(words: readonly string[], unfinished: string, client: Client): Promise<string[]> {
  const found = await candidates(words, unfinished, client)
  const isStated = (each: string) => each.endsWith('=') && words.some((word) => word.startsWith(each))
  return found.filter((each) => each.startsWith(unfinished) && !isStated(each))
}

async function candidates([name, first]: readonly string[], unfinished: string, client: Client): Promise<string[]> {
  const { capabilities } = client.server
  const toolNames = async () =>
    capabilities.tools === undefined ? [] : (await client.listTools().all()).map((tool) => tool.name)
  if (name === undefined) return [...COMMANDS, ...(await toolNames())]
  if (name === 'read')
    return capabilities.resources === undefined ? [] : (await client.listResources().all()).map(({ uri }) => uri)
  if (name === 'prompt') return completePrompt(first, unfinished, client)
  if (name === 'call' && first === undefined) return toolNames()
  const tool = (await client.listTools().all()).find((each) => each.name === (name === 'call' ? first : name))
  const view = viewOf(tool?.inputSchema, tool?.inputSchema)
  const [, key] = /^([^=]+)=/.exec(unfinished) ?? []
  if (key === undefined) return view.names.map((each) => `${each}=`)
  const { choices, types } = propertySchema(view, key)
  const values = types.has('boolean') ? [true, false, ...choices] : choices
  return values.map((value) => `${key}=${value}`)
}

async function completePrompt(name: string | undefined, unfinished: string, client: Client): Promise<string[]> {
  if (client.server.capabilities.prompts === undefined) return []
  const prompts = await client.listPrompts().all()
  if (name === undefined) return prompts.map((prompt) => prompt.name)
  const [, key, value = ''] = /^([^=]+)=(.*)$/s.exec(unfinished) ?? []
  const { arguments: parameters = [] } = prompts.find((prompt) => prompt.name === name) ?? {}
  if (key === undefined) return parameters.map((parameter) => `${parameter.name}=`)
  if (client.server.capabilities.completions === undefined) return []
  const { completion } = await client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: key, value } })
  return completion.values.map((each) => `${key}=${each}`)
}
