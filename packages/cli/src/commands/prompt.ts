/** `mcpx prompt`: gets the messages of a prompt. */

import type { Client, Prompt } from '@mcpx/client'
import { type JsonObject, nearestName } from '@mcpx/protocol'
import type { Command } from 'commander'
import { createAnswers } from '../input/answers.ts'
import { readArguments } from '../input/arguments.ts'
import { formatParts, partsOf } from '../output/content.ts'
import { usageError } from '../output/errors.ts'
import { useServer } from '../server/open.ts'
import { addServerArgument, type ServerOptions } from '../server/options.ts'
import type { CommandContext } from './index.ts'

interface PromptOptions extends ServerOptions {
  readonly args?: string
  readonly answers?: string
}

export function define(command: Command, context: CommandContext): void {
  addServerArgument(command)
    .argument('<name>', 'the name of the prompt')
    .argument('[arguments...]', 'key=value')
    .option('--args <json>', 'the arguments as JSON, or @file')
    .option('--answers <file>', 'answer the questions of the server from a JSON file')
    .action(async (server: string, name: string, words: readonly string[], options: PromptOptions) => {
      const onElicit = await createAnswers(context, { answers: options.answers })
      const run = (client: Client) => printPrompt(context, client, { name, words, args: options.args })
      await useServer(context, server, options, run, { onElicit })
    })
}

/** A prompt as the user wrote it. */
interface WrittenPrompt {
  readonly name: string
  readonly words: readonly string[]
  readonly args?: string | undefined
}

/** Gets a prompt and prints its messages. */
export async function printPrompt(
  context: CommandContext,
  client: Client,
  { name, words, args }: WrittenPrompt,
): Promise<void> {
  const { terminal, output } = context
  const prompt = await findPrompt(client, name)
  const values = await readArguments(name, words, args, schemaOf(prompt), terminal)
  const result = await client.getPrompt(name, values as Record<string, string>, { signal: terminal.signal })
  const messages = await Promise.all(
    result.messages.map(async ({ role, content }) => {
      const text = await formatParts(partsOf([content]), terminal)
      return `${output.style('bold', `${role}:`)}\n${text}`
    }),
  )
  output.result(result, () => messages.join('\n'))
}

async function findPrompt(client: Client, name: string): Promise<Prompt> {
  const prompts = client.server.capabilities.prompts === undefined ? [] : await client.listPrompts().all()
  const prompt = prompts.find((each) => each.name === name)
  if (prompt !== undefined) return prompt
  const names = prompts.map((each) => each.name)
  const nearest = nearestName(name, names)
  const known = names.length === 0 ? 'The server has no prompts.' : `Its prompts are ${names.join(', ')}.`
  throw usageError(
    `There is no prompt ${JSON.stringify(name)}`,
    nearest === undefined ? known : `Did you mean ${JSON.stringify(nearest)}?`,
  )
}

/** The arguments of a prompt are strings. */
function schemaOf({ arguments: parameters = [] }: Prompt): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, description }) => [name, { type: 'string', description }])),
    required: parameters.filter(({ required }) => required === true).map(({ name }) => name),
  }
}
