/** `mcpx shell`: many calls on one connection, with a history and completion. */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { Client } from '@mcpx/client'
import type { Command } from 'commander'
import { createAnswers } from '../input/answers.ts'
import { completeLine } from '../input/complete-line.ts'
import { splitWords } from '../input/words.ts'
import { formatCatalogue } from '../output/catalogue.ts'
import { type Contents, partOfContents, printParts } from '../output/content.ts'
import { ExitCode, reportError, usageError } from '../output/errors.ts'
import { plainLine } from '../output/plain-text.ts'
import { createProgressLine } from '../output/progress.ts'
import { mcpxFolder } from '../server/hosts.ts'
import { useServer } from '../server/open.ts'
import { addServerArgument, type ServerOptions } from '../server/options.ts'
import { callTool, printResult } from './call.ts'
import type { CommandContext } from './index.ts'
import { readCatalogue } from './list.ts'
import { printPrompt } from './prompt.ts'

const HELP = `<tool> key=value …         call a tool; "call <tool>" for a tool with the name of a command
list                       list tools, resources and prompts
read <uri>                 read a resource
prompt <name> key=value …  get a prompt
help                       print this
exit                       end the shell, as Ctrl-D does`

/** The largest number of lines in the history. */
const MAX_HISTORY = 1_000

export function define(command: Command, context: CommandContext): void {
  addServerArgument(command)
    .option('--answers <file>', 'answer the questions of the server from a JSON file')
    .addHelpText(
      'after',
      `\nIn the shell:\n${HELP.replace(/^/gm, '  ')}\n\nLines are also read from standard input: echo "add a=1 b=2" | mcpx shell server.ts`,
    )
    .action(async (server: string, options: ServerOptions & { answers?: string }) => {
      const progress = createProgressLine(context.terminal)
      const onElicit = await createAnswers(context, { answers: options.answers, beforeInput: progress.clear })
      const run = (client: Client) => new Shell(context, client).run()
      await useServer(context, server, options, run, { onElicit })
    })
}

class Shell {
  readonly #context: CommandContext
  readonly #client: Client

  constructor(context: CommandContext, client: Client) {
    this.#context = context
    this.#client = client
  }

  async run(): Promise<void> {
    const { stdin, stderr } = this.#context.terminal
    if (stdin.isTTY === true && stderr.isTTY === true) return this.#readKeys()
    for await (const line of createInterface({ input: stdin })) if (!(await this.#execute(line))) return
  }

  /**
   * Reads lines from the keyboard. Each line creates a new readline interface, so that forms can read keys between two
   * lines.
   */
  async #readKeys(): Promise<void> {
    const { terminal, output } = this.#context
    const { info } = this.#client.server
    const name = plainLine(info?.name ?? 'server')
    output.note(
      `${plainLine(info?.title ?? name)} ${plainLine(info?.version ?? '')}: "help" lists the commands, Tab completes, Ctrl-D ends.`,
    )
    const file = join(mcpxFolder(terminal), 'history')
    let history = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean)
    for (;;) {
      const lines = createInterface({
        input: terminal.stdin,
        output: terminal.stderr,
        history: [...history],
        historySize: MAX_HISTORY,
        removeHistoryDuplicates: true,
        completer: (line: string) => completeLine(line, this.#client),
      })
      const line = await lines.question(`${name}> `, { signal: terminal.signal }).catch(() => undefined)
      lines.close()
      if (line === undefined) {
        terminal.stderr.write('\n')
        return
      }
      // As in other shells, a line that begins with a space is not added to the history.
      if (line.trim() !== '' && !line.startsWith(' ')) {
        history = [line, ...history.filter((each) => each !== line)].slice(0, MAX_HISTORY)
        await saveHistory(file, history).catch((error: Error) => output.note(`warning: ${error.message}`))
      }
      if (!(await this.#execute(line))) return
    }
  }

  /**
   * Executes one line. Returns false if the shell should end. Prints errors; the exit code is the code of the last
   * error.
   */
  async #execute(line: string): Promise<boolean> {
    const { words, isOpen } = splitWords(line)
    const [name, ...rest] = words
    if (name === undefined || name.startsWith('#')) return true
    if (name === 'exit' || name === 'quit') return false
    const { terminal, output } = this.#context
    const interruption = new AbortController()
    const stopListening = terminal.onInterrupt(() => interruption.abort())
    const signal = AbortSignal.any([terminal.signal, interruption.signal])
    const context: CommandContext = { ...this.#context, terminal: { ...terminal, signal } }
    try {
      if (isOpen) throw usageError('A quote is not closed')
      await this.#dispatch(name, rest, context)
      if (context.exitCode !== ExitCode.success) this.#context.exitCode = context.exitCode
    } catch (error) {
      this.#context.exitCode = reportError(error, output, signal)
    } finally {
      stopListening()
    }
    return !terminal.signal.aborted
  }

  async #dispatch(name: string, rest: readonly string[], context: CommandContext): Promise<void> {
    const client = this.#client
    const { output, terminal } = context
    const [first, ...others] = rest
    switch (name) {
      case 'help':
        return output.result({ help: HELP }, () => HELP)
      case 'list': {
        const catalogue = await readCatalogue(client)
        return output.result(catalogue, () => formatCatalogue(catalogue, output, { full: false }))
      }
      case 'read': {
        if (first === undefined) throw usageError('read: expected a URI')
        const result = await client.readResource(first, { signal: terminal.signal })
        return printParts(
          context,
          result,
          result.contents.map((each) => partOfContents(each as Contents)),
        )
      }
      case 'prompt':
        if (first === undefined) throw usageError('prompt: expected a name')
        return printPrompt(context, client, { name: first, words: others })
      case 'call':
        if (first === undefined) throw usageError('call: expected the name of a tool')
        return this.#call(first, others, context)
      default:
        return this.#call(name, rest, context)
    }
  }

  async #call(tool: string, words: readonly string[], context: CommandContext): Promise<void> {
    const progress = createProgressLine(context.terminal)
    await printResult(context, await callTool(context, this.#client, { tool, words, progress }))
  }
}

async function saveHistory(file: string, history: readonly string[]): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(file, `${history.join('\n')}\n`, { mode: 0o600 })
}
