/** `mcpx call`: calls a tool and prints its result. */

import type { CallToolResult, Client, Tool } from '@mcpx/client'
import { nearestName } from '@mcpx/protocol'
import type { Command } from 'commander'
import { createAnswers } from '../input/answers.ts'
import { ARGUMENTS_HELP, readArguments } from '../input/arguments.ts'
import { signatureOf } from '../output/catalogue.ts'
import { partsOf, printParts } from '../output/content.ts'
import { CliError, ExitCode, usageError } from '../output/errors.ts'
import { plainText } from '../output/plain-text.ts'
import { createProgressLine, type ProgressLine } from '../output/progress.ts'
import { useServer } from '../server/open.ts'
import { addServerArgument, type ServerOptions } from '../server/options.ts'
import type { CommandContext } from './index.ts'

interface CallOptions extends ServerOptions {
  readonly args?: string
  readonly answers?: string
  readonly output?: string
}

const EXAMPLES = `
Examples:
  mcpx call server.ts add a=1 b=2
  mcpx call https://example.com/mcp search q="red shoes" tags=new tags=sale price.max=99
  mcpx call shop order --args @order.json --json
  mcpx call echo message=hi -- npx -y @modelcontextprotocol/server-everything`

export function define(command: Command, context: CommandContext): void {
  addServerArgument(command)
    .argument('<tool>', 'the name of the tool')
    .argument('[arguments...]', ARGUMENTS_HELP)
    .option('--args <json>', 'the arguments as JSON, or @file')
    .option('--answers <file>', 'answer the questions of the server from a JSON file')
    .option('-o, --output <file>', 'write the exact content to a file; with -, to standard output')
    .addHelpText('after', EXAMPLES)
    .action(async (server: string, tool: string, words: readonly string[], options: CallOptions) => {
      if (server === '-' && (words.includes('-') || options.args === '-')) {
        throw usageError(
          'Standard input cannot contain both the server and the arguments',
          'Pass the arguments by --args @file.',
        )
      }
      const progress = createProgressLine(context.terminal)
      const onElicit = await createAnswers(context, { answers: options.answers, beforeInput: progress.clear })
      await useServer(
        context,
        server,
        options,
        async (client) => {
          const result = await callTool(context, client, { tool, words, args: options.args, progress })
          await printResult(context, result, options.output)
        },
        { onElicit },
      )
    })
}

/** A call as the user wrote it. */
export interface WrittenCall {
  readonly tool: string
  readonly words: readonly string[]
  readonly args?: string | undefined
  readonly progress: ProgressLine
}

/** Finds the tool, converts the arguments by its schema, and calls it. */
export async function callTool(
  { terminal }: CommandContext,
  client: Client,
  call: WrittenCall,
): Promise<CallToolResult> {
  const tool = await findTool(client, call.tool)
  const args = await readArguments(tool.name, call.words, call.args, tool.inputSchema, terminal).catch(
    (error: unknown) => {
      throw withSignature(error, tool)
    },
  )
  try {
    return await client.callTool(tool.name, args, { signal: terminal.signal, onProgress: call.progress.show })
  } finally {
    call.progress.clear()
  }
}

async function findTool(client: Client, name: string): Promise<Tool> {
  if (client.server.capabilities.tools === undefined) throw usageError('The server has no tools')
  const names: string[] = []
  for await (const tool of client.listTools()) {
    if (tool.name === name) return tool
    names.push(tool.name)
  }
  const nearest = nearestName(name, names)
  const remedy =
    nearest === undefined ? `Its tools are ${names.join(', ')}.` : `Did you mean ${JSON.stringify(nearest)}?`
  throw usageError(
    `There is no tool ${JSON.stringify(name)}`,
    names.length === 0 ? 'The server lists no tools.' : remedy,
  )
}

/** Adds the signature of the tool to errors about its arguments. */
function withSignature(error: unknown, tool: Tool): unknown {
  if (!(error instanceof CliError)) return error
  const hint = [error.hint, signatureOf(tool)].filter(Boolean).join('\n')
  return new CliError(error.kind, error.message, hint, error.cause)
}

/** Prints the result of a tool. The text of a tool that failed goes to standard error, with exit code 1. */
export async function printResult(context: CommandContext, result: CallToolResult, file?: string): Promise<void> {
  const { output, terminal } = context
  const { content, structuredContent, isError } = result
  if (isError === true) context.exitCode = ExitCode.failure
  if (isError === true && !output.json) {
    const texts = content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`))
    terminal.stderr.write(`${output.errorLabel('the tool failed:')} ${plainText(texts.join('\n'))}\n`)
    return
  }
  await printParts(context, result, partsOf(content, structuredContent), file)
}
