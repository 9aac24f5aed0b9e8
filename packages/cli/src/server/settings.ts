/** Finds servers by name in the settings files of hosts. */

import { readFile } from 'node:fs/promises'
import { isObject, kindOf, nearestName } from '@mcpx/protocol'
import { CliError, usageError } from '../output/errors.ts'
import { HOSTS, type Host, type Machine, pathsOf, projectFolders } from './hosts.ts'

/** A server in a settings file. */
export interface FoundServer {
  readonly name: string
  /** The id of the host. Undefined for a file of `--config`. */
  readonly host: string | undefined
  /** The path of the settings file. */
  readonly file: string
  readonly scope: 'project' | 'user'
  /** Its settings, as `fromSettings` reads them. */
  readonly entry: Record<string, unknown>
  /** Whether the host starts it. */
  readonly enabled: boolean
}

/** The servers that were found, and the files that could not be read. */
export interface FoundServers {
  readonly servers: readonly FoundServer[]
  readonly problems: readonly CliError[]
}

/** A file that may contain settings of a host. */
export interface SettingsFile {
  readonly host: Host
  readonly file: string
  readonly scope: 'project' | 'user'
}

/** Returns the paths of the settings of all hosts: first of the project, then of the user. */
export function settingsFiles(machine: Machine): SettingsFile[] {
  const { join } = pathsOf(machine.platform)
  return [
    ...projectFolders(machine).flatMap((folder) =>
      HOSTS.flatMap((host) =>
        host.projectFiles.map((file) => ({ host, file: join(folder, file), scope: 'project' as const })),
      ),
    ),
    ...HOSTS.map((host) => ({ host, file: host.userFile(machine), scope: 'user' as const })),
  ]
}

/** Reads the settings of all hosts, in the order of `settingsFiles`. */
export async function findServers(machine: Machine): Promise<FoundServers> {
  const problems: CliError[] = []
  const found = settingsFiles(machine).map(async ({ host, file, scope }) => {
    try {
      const settings = await readSettings(file, host.format)
      return settings === undefined
        ? []
        : serversOf(host.serversIn(settings, machine.cwd), { host: host.id, file, scope })
    } catch (error) {
      problems.push(error as CliError)
      return []
    }
  })
  return { servers: (await Promise.all(found)).flat(), problems }
}

/** Reads the servers of one file, in the format of any host. The file name determines the syntax. */
export async function readServersOf(path: string, cwd: string): Promise<FoundServer[]> {
  const format = /\.toml$/i.test(path) ? 'toml' : /\.ya?ml$/i.test(path) ? 'yaml' : 'json'
  const settings = await readSettings(path, format)
  if (settings === undefined) throw usageError(`--config: the file ${path} does not exist`)
  const hosts = HOSTS.filter((host) => host.format === format)
  const servers = Object.assign({}, ...hosts.map((host) => host.serversIn(settings, cwd)))
  if (Object.keys(servers).length === 0)
    throw usageError(`--config: ${path} has no servers`, 'Expected the member "mcpServers".')
  return serversOf(servers, { host: undefined, file: path, scope: 'user' })
}

/**
 * Returns the server of a name. `claude-code:shop` names the host, too.
 *
 * @throws CliError if the name is unknown, with the most similar name, or if several different servers have this name
 */
export function selectServer(name: string, { servers, problems }: FoundServers): FoundServer {
  const [, hostId, rest] = /^([a-z-]+):(.+)$/.exec(name) ?? []
  const isQualified = HOSTS.some(({ id }) => id === hostId)
  const wanted = isQualified ? servers.filter(({ host }) => host === hostId) : servers
  const matches = wanted.filter((server) => server.name === (isQualified ? rest : name))
  const [first, ...others] = matches
  if (first === undefined) throw unknownName(name, servers, problems)
  // Settings of the project have precedence in every host.
  const rivals = others.filter((other) => other.scope === first.scope && !isSame(other, first))
  if (rivals.length > 0) {
    const names = [first, ...rivals].map((server) => `${server.host}:${server.name} (${server.file})`)
    throw usageError(`${JSON.stringify(name)} is the name of several servers`, `Write one of:\n  ${names.join('\n  ')}`)
  }
  return first
}

function isSame(one: FoundServer, other: FoundServer): boolean {
  return JSON.stringify(one.entry) === JSON.stringify(other.entry)
}

function unknownName(name: string, servers: readonly FoundServer[], problems: readonly Error[]): CliError {
  const names = [...new Set(servers.map((server) => server.name))]
  const nearest = nearestName(name, names)
  const unread = problems.map(({ message }) => message).join('\n')
  const likely = meantByPath(name) ?? (nearest && `Did you mean ${JSON.stringify(nearest)}?`)
  const known = names.length > 0 ? `Known servers: ${names.join(', ')}.` : 'The settings of hosts contain no servers.'
  return usageError(`There is no server ${JSON.stringify(name)}`, [likely ?? known, unread].filter(Boolean).join('\n'))
}

/** Returns the remedy for words that look like a path or a URL. */
function meantByPath(word: string): string | undefined {
  if (/\.(?:jsonc?|toml|ya?ml)$/.test(word)) return `For a server in this settings file, write: <name> --config ${word}`
  if (/^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:\/|$)/.test(word)) return `For a URL, write http://${word}`
  if (/^[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:\/|$)/.test(word) && !/\.(?:py|rb|jar|exe|sh)$/.test(word))
    return `For a URL, write https://${word}`
  const runner = { py: 'python ', rb: 'ruby ', jar: 'java -jar ', exe: '', sh: 'sh ' }[/\.(\w+)$/.exec(word)?.[1] ?? '']
  if (runner !== undefined || /^\.{0,2}\//.test(word)) return `To start a program, write: -- ${runner ?? ''}${word}`
  return undefined
}

/** Returns the content of a settings file, or undefined without a file. */
async function readSettings(file: string, format: Host['format']): Promise<Record<string, unknown> | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new CliError('usage', `${file} cannot be read: ${code}`, undefined, cause)
  }
  const settings = await parseSettings(file, text, format)
  if (isObject(settings)) return settings
  throw usageError(`${file}: expected an object, got ${kindOf(settings)}`)
}

/** Parses settings. Errors name the line. They do not quote the file, which may contain secrets. */
export async function parseSettings(file: string, text: string, format: Host['format']): Promise<unknown> {
  // Some hosts create an empty file when they are installed.
  if (text.trim() === '') return {}
  if (format === 'json') {
    const { parse, printParseErrorCode } = await import('jsonc-parser')
    const problems: import('jsonc-parser').ParseError[] = []
    // VS Code and Cursor allow comments.
    const settings: unknown = parse(text.replace(/^\ufeff/, ''), problems, { allowTrailingComma: true })
    const [first] = problems
    if (first === undefined) return settings
    const line = text.slice(0, first.offset).split('\n').length
    throw usageError(`${file}:${line}: ${printParseErrorCode(first.error)}`, 'Mend the file; it is not valid JSON.')
  }
  try {
    return format === 'toml' ? (await import('smol-toml')).parse(text) : (await import('yaml')).parse(text)
  } catch (cause) {
    const { line, linePos } = cause as { line?: number; linePos?: readonly { line: number }[] }
    const at = line ?? linePos?.[0]?.line
    throw usageError(`${file}${at ? `:${at}` : ''}: is not valid ${format.toUpperCase()}`, 'Mend the file.')
  }
}

function serversOf(
  servers: Record<string, unknown>,
  place: Pick<FoundServer, 'host' | 'file' | 'scope'>,
): FoundServer[] {
  return Object.entries(servers).flatMap(([name, value]) => {
    if (!isObject(value)) return []
    const { disabled = false, enabled = true, ...entry } = value
    return [{ name, ...place, entry, enabled: disabled !== true && enabled !== false }]
  })
}
