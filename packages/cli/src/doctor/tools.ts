/** Checks the tools of a server, as hosts and model APIs use them. */

import type { Client } from '@mcpx/client'
import { fitSchema } from '@mcpx/toolset'
import type { Diagnosis } from './findings.ts'

/** With more tools, some hosts leave tools out. */
const MANY_TOOLS = 40
/** The largest list of tools that does not take too much of the context of a model, in characters of JSON. */
const LARGE_LIST = 100_000
/** The largest number of tools that one finding names. */
const MAX_NAMED = 5

/** Checks the tools that a client lists. */
export async function checkTools(client: Client, diagnosis: Diagnosis): Promise<void> {
  const { capabilities } = client.server
  if (capabilities.tools === undefined) {
    diagnosis.add('no-tools', 'the server does not declare the capability "tools"')
    return
  }
  let tools: Awaited<ReturnType<ReturnType<Client['listTools']>['all']>>
  try {
    tools = await client.listTools().all()
  } catch (error) {
    const { message } = error as Error
    diagnosis.add(/inputSchema/.test(message) ? 'tool-schema' : 'lists-failed', `tools/list: ${message}`)
    return
  }
  if (tools.length === 0) diagnosis.add('no-tools', 'tools/list: an empty list')
  else diagnosis.pass(`tools/list: ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`)
  const names = tools.map(({ name }) => name)
  addNames(
    diagnosis,
    'tool-twice',
    names.filter((name, index) => names.indexOf(name) !== index),
  )
  addNames(
    diagnosis,
    'tool-name',
    names.filter((name) => !/^[\w-]{1,64}$/.test(name)),
  )
  addNames(
    diagnosis,
    'no-description',
    tools.filter(({ description }) => !description?.trim()).map(({ name }) => name),
  )
  if (tools.length > MANY_TOOLS) diagnosis.add('many-tools', `tools/list: ${tools.length} tools`)
  const size = JSON.stringify(tools).length
  if (size > LARGE_LIST)
    diagnosis.add('large-list', `tools/list: ${size} characters, about ${Math.round(size / 4)} tokens`)
  for (const { name, inputSchema } of tools) {
    const problem = modelProblem(inputSchema)
    if (problem !== undefined) diagnosis.add('model-schema', `tool ${JSON.stringify(name)}, ${problem}`)
  }
}

function addNames(
  diagnosis: Diagnosis,
  id: 'tool-twice' | 'tool-name' | 'no-description',
  names: readonly string[],
): void {
  if (names.length === 0) return
  const different = [...new Set(names)]
  const shown = different.slice(0, MAX_NAMED).map((name) => JSON.stringify(name.slice(0, 80)))
  const rest = different.length > shown.length ? ` and ${different.length - shown.length} more` : ''
  diagnosis.add(id, `tools ${shown.join(', ')}${rest}`)
}

/** Returns the first place of a schema that a model API refuses or interprets differently. */
function modelProblem(schema: object): string | undefined {
  for (const dialect of ['openai', 'gemini'] as const) {
    try {
      const change = fitSchema(schema as never, dialect).changes.find(({ effect }) => effect !== 'same')
      if (change !== undefined) return `inputSchema${change.path}: ${change.message} (${dialect})`
    } catch (error) {
      return `inputSchema: ${(error as Error).message} (${dialect})`
    }
  }
  return undefined
}
