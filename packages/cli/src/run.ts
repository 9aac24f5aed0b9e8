/** Parses the command line, loads the command, runs it, and returns the exit code. */

import { Command, CommanderError, Help } from 'commander'
import { COMMANDS, type CommandContext, type CommandEntry } from './commands/index.ts'
import { ExitCode, reportError, usageError } from './output/errors.ts'
import { Output } from './output/output.ts'
import type { Terminal } from './output/terminal.ts'
import { SERVER_COMMAND } from './server/target.ts'
import { VERSION } from './version.ts'

const INTRODUCTION = `Calls, lists and checks servers of the Model Context Protocol.

In all commands, a server is one of these:
  https://example.com/mcp    a URL
  server.ts                  a file that exports a server, also in JavaScript
  shop                       a name in the settings of a host (see mcpx list)
  -                          settings in JSON, read from standard input
  -- npx some-server         a command to start, after all other arguments`

const EXIT_CODES = `
Exit codes: 0 success, 1 the tool failed or a check found something, 2 wrong arguments, 3 no connection,
4 the server refused the request, 5 not authorized, 6 timeout, 70 a bug of mcpx, 130 interrupted`

/** Runs a command line and resolves to the exit code. It writes to the terminal, and never throws or exits. */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const [given, serverCommand] = splitServerCommand(args)
  // Load only one command. For `help <command>`, this command prints its help.
  const words = given[0] === 'help' && given[1] !== undefined ? [given[1], '--help'] : given
  const output = new Output(terminal, { json: words.includes('--json') })
  try {
    const program = createProgram(terminal)
    const entry = COMMANDS.find(({ name }) => name === words[0])
    for (const each of COMMANDS) if (each !== entry) addSummary(program, each)
    if (entry === undefined) {
      if (words.length === 0) program.help()
      await program.parseAsync(words, { from: 'user' })
      return ExitCode.success
    }
    const command = addSummary(program, entry)
    const context: CommandContext = { terminal, output, commands: COMMANDS, serverCommand, exitCode: ExitCode.success }
    const { define } = await entry.load()
    define(command, context)
    await program.parseAsync(placeServerCommand(words, command, serverCommand), { from: 'user' })
    return context.exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(error, output, terminal.signal)
    return error.exitCode === 0 ? ExitCode.success : reportError(wrongUsage(error, words[0]), output, terminal.signal)
  }
}

/** Converts an error of commander: `error: unknown option '--tokne'`, with a suggestion on the next line. */
function wrongUsage({ message }: CommanderError, name: string | undefined): Error {
  const [first = '', suggestion] = message.replace(/^error: /, '').split('\n')
  const isKnown = COMMANDS.some((entry) => entry.name === name)
  return usageError(
    first,
    suggestion?.replace(/^\((.*)\)$/, '$1') ?? `See "mcpx ${isKnown ? `help ${name}` : '--help'}".`,
  )
}

/** Separates the command of a server after `--` from the rest. */
function splitServerCommand(args: readonly string[]): [words: string[], serverCommand: string[] | undefined] {
  const index = args.indexOf('--')
  return index < 0 ? [[...args], undefined] : [args.slice(0, index), args.slice(index + 1)]
}

/** Inserts a placeholder where the command expects the argument `server`: first or last. */
function placeServerCommand(
  words: readonly string[],
  command: Command,
  serverCommand: readonly string[] | undefined,
): readonly string[] {
  // For `complete`, the words to complete follow "--".
  if (serverCommand === undefined || command.name() === 'complete') return words
  const position = command.registeredArguments.findIndex((argument) => argument.name() === 'server')
  if (position > 0) return [...words, SERVER_COMMAND]
  if (position < 0) {
    command.error(`error: "mcpx ${command.name()}" has no server, so "--" cannot follow`)
  }
  const [name = '', ...rest] = words
  return [name, SERVER_COMMAND, ...rest]
}

function createProgram({ stdout, stderr, columns }: Terminal): Command {
  return new Command('mcpx')
    .description(INTRODUCTION)
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', EXIT_CODES)
    .showHelpAfterError(false)
    .configureHelp({
      // The default of an option that may be repeated is an empty list, which says nothing.
      optionDescription: (option) => new Help().optionDescription(option).replace(' (default: [])', ''),
    })
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      // Errors are written by `reportError`.
      writeErr: () => {},
      outputError: () => {},
      getOutHelpWidth: () => columns(stdout),
      getErrHelpWidth: () => columns(stderr),
    })
    .exitOverride()
}

function addSummary(program: Command, { name, summary, hidden = false }: CommandEntry): Command {
  return program
    .command(name, { hidden })
    .summary(summary)
    .description(summary)
    .helpOption('-h, --help', 'print this help')
}
