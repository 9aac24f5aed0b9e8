/** `mcpx complete -- <words>`: returns completions to the script of `mcpx completion`. */

import { readdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ShellCompDirective } from '@bomb.sh/tab'
import attach from '@bomb.sh/tab/commander'
import { Command } from 'commander'
import { completeWord } from '../input/complete-line.ts'
import { plainLine } from '../output/plain-text.ts'
import { machineOf } from '../server/hosts.ts'
import { openServer, resolveServer } from '../server/open.ts'
import type { ServerOptions } from '../server/options.ts'
import { findServers } from '../server/settings.ts'
import { SCRIPT } from '../server/target.ts'
import type { CommandContext } from './index.ts'

export function define(command: Command, context: CommandContext): void {
  command.action(async () => {
    const words = [...(context.serverCommand ?? [])]
    const found = await completeFromServer(words, context)
    if (found !== undefined) return printCompletions(found, context)
    const program = new Command('mcpx')
    const shown = context.commands.filter(({ name, hidden }) => hidden !== true && name !== 'completion')
    const modules = await Promise.all(shown.map(async (entry) => ({ entry, module: await entry.load() })))
    for (const { entry, module } of modules)
      module.define(program.command(entry.name).description(entry.summary), context)
    const completions = attach(program, { completionCommandName: 'completion' })
    const servers = await serverCompletions(words.at(-1) ?? '', context)
    for (const { arguments: parameters } of completions.commands.values()) {
      const server = parameters.get('server')
      if (server === undefined) continue
      server.handler = (complete) => {
        for (const [value, description] of servers) complete(value, description)
      }
    }
    completions.parse(words)
  })
}

/** The commands that take a server, followed by names from this server, such as the name of a tool. */
const SERVER_COMMANDS = ['call', 'read', 'prompt', 'subscribe']
/** How long completing may take, in ms. After this time, no words are proposed. */
const TIMEOUT = 2_000
/** How long closing the connection may take, in ms. Server processes end when this process exits. */
const CLOSE_TIMEOUT = 300

/**
 * Returns the tools, arguments, resources or prompts that may follow. Returns undefined if the words name no server.
 */
async function completeFromServer(words: readonly string[], context: CommandContext): Promise<string[] | undefined> {
  const [name = '', ...rest] = words
  const entry = context.commands.find((each) => each.name === name && SERVER_COMMANDS.includes(name))
  const unfinished = rest.pop() ?? ''
  if (entry === undefined || unfinished.startsWith('-')) return undefined
  const command = new Command(name).exitOverride().configureOutput({ writeErr() {} })
  const { define } = await entry.load()
  define(command, context)
  try {
    const [server, ...before] = command.parseOptions(rest).operands
    // The shell uses standard input, so a server on it cannot be asked. Shells split words at "=" in different ways, so
    // values after it are not completed either.
    if (server === undefined) return undefined
    if (server === '-' || unfinished.includes('=')) return []
    const line = [name === 'subscribe' ? 'read' : name, ...before]
    const limits = { login: false, connectTimeout: TIMEOUT, timeout: TIMEOUT }
    const options = { ...command.opts<ServerOptions>(), ...limits }
    return await Promise.race([askServer(context, server, options, line, unfinished), pause(TIMEOUT, [])])
  } catch {
    // Print no completions, for example if the value of an option is missing or the server does not exist.
    return undefined
  }
}

async function askServer(
  context: CommandContext,
  server: string,
  options: ServerOptions,
  words: readonly string[],
  unfinished: string,
): Promise<string[]> {
  const client = await openServer(context, await resolveServer(context, server, options), options)
  try {
    return await completeWord(words, unfinished, client)
  } finally {
    await Promise.race([client.close(), pause(CLOSE_TIMEOUT)])
  }
}

/** Prints completions as the scripts expect them. */
function printCompletions(found: readonly string[], { terminal }: CommandContext): void {
  const isUnfinished = found.some((each) => each.endsWith('='))
  const directive =
    ShellCompDirective.ShellCompDirectiveNoFileComp | (isUnfinished ? ShellCompDirective.ShellCompDirectiveNoSpace : 0)
  const lines = found.map((each) => `${plainLine(each)}\t\n`)
  // Do not use `console.log`: the file of a server may have redirected it.
  terminal.stdout.write(`${lines.join('')}:${directive}\n`)
}

/** Returns names of servers in settings, and files that may export a server. Nothing is started. */
async function serverCompletions(
  word: string,
  { terminal }: CommandContext,
): Promise<[value: string, description: string][]> {
  const { servers } = await findServers(machineOf(terminal))
  const folder = word.endsWith('/') ? word : dirname(word)
  const prefix = word.includes('/') ? folder.replace(/\/?$/, '/') : ''
  return [
    ...servers.map(({ name, file }): [string, string] => [plainLine(name), file]),
    ...entriesOf(resolve(terminal.cwd, folder)).map((name): [string, string] => [`${prefix}${plainLine(name)}`, '']),
  ]
}

function entriesOf(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).filter(
      ({ name }) => !name.startsWith('.') && name !== 'node_modules',
    )
    return entries.flatMap((entry) =>
      entry.isDirectory() ? `${entry.name}/` : SCRIPT.test(entry.name) ? entry.name : [],
    )
  } catch {
    return []
  }
}
