/** `mcpx install`: writes a server into the settings of a host. */

import type { Command } from 'commander'
import { commandFor, FORMATS, type InstalledServer, nameFor } from '../install/entries.ts'
import { planChange, type SettingsChange, writeChange } from '../install/settings-file.ts'
import { usageError } from '../output/errors.ts'
import { plainText } from '../output/plain-text.ts'
import { HOSTS, type Host, machineOf, pathsOf } from '../server/hosts.ts'
import { addJsonOption, collect, readHeaders, readVariables } from '../server/options.ts'
import { findServers, selectServer } from '../server/settings.ts'
import { readTarget, SERVER_HELP } from '../server/target.ts'
import type { CommandContext } from './index.ts'

interface InstallOptions {
  readonly name?: string
  readonly project?: boolean
  readonly dryRun?: boolean
  readonly force?: boolean
  readonly env: readonly string[]
  readonly header: readonly string[]
}

const HOST_NAMES = HOSTS.map(({ id }) => id)

export function define(command: Command, context: CommandContext): void {
  addJsonOption(command.argument('<host>', `one of ${HOST_NAMES.join(', ')}`).argument('<server>', SERVER_HELP))
    .option('--name <name>', 'the name of the server in the settings; default: from its URL, file or command')
    .option('--project', 'write the settings of this folder instead of those of the user')
    .option('--dry-run', 'show the settings, and write nothing')
    .option('--force', 'replace a server that has this name')
    .option('--env <name=value>', 'set a variable for the command; may be repeated', collect, [])
    .option('--header <name:value>', 'send a header with each request; may be repeated', collect, [])
    .action((host: string, server: string, options: InstallOptions) => install(context, host, server, options))
}

async function install(context: CommandContext, hostId: string, word: string, options: InstallOptions): Promise<void> {
  const host = HOSTS.find(({ id }) => id === hostId)
  const format = FORMATS[hostId]
  if (host === undefined || format === undefined) {
    throw usageError(`host: expected one of ${HOST_NAMES.join(', ')}, got ${JSON.stringify(hostId)}`)
  }
  const { server, words } = await readServer(context, word, options)
  const name = nameFor(options.name, server, words)
  const file = fileOf(context, host, options)
  const entry = format.entry(server, name)
  const change = await planChange(file, host.format, [...format.path, name], entry)
  if (
    change.replaced !== undefined &&
    options.force !== true &&
    JSON.stringify(change.replaced) !== JSON.stringify(entry)
  ) {
    throw usageError(
      `${file}: there is a server ${JSON.stringify(name)} already`,
      'Replace it by --force, or choose another --name.',
    )
  }
  const isWritten = options.dryRun !== true && change.after !== change.before
  const backup = isWritten ? await writeChange(change) : undefined
  context.output.result({ host: hostId, file, name, entry, written: isWritten, backup }, () => {
    if (options.dryRun === true) return formatPlan(change)
    const copy = backup === undefined ? '' : `The old settings are in ${backup}\n`
    const done = isWritten ? `Installed ${name} in ${file}` : `${name} is installed in ${file} already`
    return plainText(`${done}\n${copy}${format.next}`)
  })
}

/** Returns the server, as a host starts it or reaches it. */
async function readServer(
  { terminal, serverCommand }: CommandContext,
  word: string,
  options: InstallOptions,
): Promise<{ server: InstalledServer; words: readonly string[] }> {
  const { platform, cwd, env: variables, program } = terminal
  const env = readVariables(options.env, variables)
  const target = readTarget(word, serverCommand, cwd)
  switch (target.kind) {
    case 'url':
      return { server: { kind: 'url', url: target.url.href, headers: readHeaders(options.header) }, words: [] }
    case 'command': {
      return {
        server: { kind: 'command', ...commandFor(platform, target.command, target.args), env },
        words: [target.command, ...target.args],
      }
    }
    case 'file': {
      const [command, ...args] = program
      const started = commandFor(platform, command, [...args, 'run', target.path, '--stdio'])
      return { server: { kind: 'command', ...started, env }, words: [target.path] }
    }
    case 'name': {
      const { entry, name } = selectServer(target.name, await findServers(machineOf(terminal)))
      return { server: serverOfEntry(entry, env), words: [name] }
    }
    case 'stdin':
      throw usageError('install: expected a URL, a file, a name or a command, got -')
  }
}

/** Converts an entry of the settings of any host to the server to install. */
function serverOfEntry(entry: Record<string, unknown>, added: Record<string, string>): InstalledServer {
  const { command, args, env, url = entry.serverUrl ?? entry.httpUrl, headers } = entry
  if (typeof url === 'string') return { kind: 'url', url, headers: { ...(headers as Record<string, string>) } }
  return {
    kind: 'command',
    command: String(command),
    args: Array.isArray(args) ? args.map(String) : [],
    env: { ...(env as Record<string, string>), ...added },
  }
}

function fileOf({ terminal }: CommandContext, host: Host, { project }: InstallOptions): string {
  const machine = machineOf(terminal)
  if (project !== true) return host.userFile(machine)
  const [file] = host.projectFiles
  if (file !== undefined) return pathsOf(machine.platform).join(machine.cwd, file)
  throw usageError(`--project: ${host.title} has no settings of a project`, 'Leave out --project.')
}

function formatPlan({ file, after }: SettingsChange): string {
  return plainText(`${file} would be:\n\n${after}`)
}
