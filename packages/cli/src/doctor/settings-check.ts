/** Checks the settings files of hosts: their syntax, and the servers in them. */

import { accessSync, constants, existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isObject } from '@mcpx/protocol'
import { FORMATS } from '../install/entries.ts'
import { CliError, usageError } from '../output/errors.ts'
import { HOSTS, type Host, type Machine, pathsOf } from '../server/hosts.ts'
import { parseSettings, type SettingsFile, settingsFiles } from '../server/settings.ts'
import { checkEntry } from './entry-check.ts'
import type { Diagnosis } from './findings.ts'

/** A settings file that was checked. */
export interface CheckedFile {
  readonly file: string
  /** The id of the host. */
  readonly host: string
  /** The names of the servers. */
  readonly servers: readonly string[]
}

/**
 * Checks the settings files of all hosts, or one file. Returns the files that exist.
 *
 * @throws CliError if `path` does not exist
 */
export async function checkSettings(
  machine: Machine,
  path: string | undefined,
  diagnosis: Diagnosis,
): Promise<CheckedFile[]> {
  const all = path === undefined ? settingsFiles(machine) : [await fileAt(path, machine)]
  // In the home folder, the settings of the project and of the user are the same file.
  const files = all.filter(({ file }, index) => all.findLastIndex((other) => other.file === file) === index)
  const checked: CheckedFile[] = []
  for (const { host, file, scope } of files) {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => error)
    if (typeof text !== 'string') {
      if (text.code !== 'ENOENT' && text.code !== 'ENOTDIR')
        diagnosis.add('config-syntax', `${file} cannot be read: ${text.code}`)
      continue
    }
    const servers = await checkFile({ host, file, scope, text, machine }, diagnosis)
    checked.push({ file, host: host.id, servers })
  }
  return checked
}

/** Names of files that only one host has. */
const FILE_NAMES: Readonly<Record<string, string>> = {
  '.claude.json': 'claude-code',
  '.mcp.json': 'claude-code',
  'claude_desktop_config.json': 'claude-desktop',
  'mcp_config.json': 'windsurf',
}

/**
 * Returns the host of a file, by its path, otherwise by its content. For an unknown file, returns Cursor, whose member
 * names are the most common.
 */
async function fileAt(path: string, machine: Machine): Promise<SettingsFile> {
  if (!existsSync(path)) throw usageError(`--config: the file ${path} does not exist`)
  const known = settingsFiles(machine).find(({ file }) => file === path)
  if (known !== undefined) return known
  const plain = path.replaceAll('\\', '/')
  const byPath = HOSTS.find(({ projectFiles }) => projectFiles.some((file) => plain.endsWith(`/${file}`)))
  const text = await readFile(path, 'utf8')
  const isOfCode = /"servers"/.test(text) && !/"mcpServers"/.test(text)
  const otherwise = /\.toml$/i.test(path) ? 'codex' : /\.ya?ml$/i.test(path) ? 'goose' : isOfCode ? 'vs-code' : 'cursor'
  const id = byPath?.id ?? FILE_NAMES[plain.slice(plain.lastIndexOf('/') + 1)] ?? otherwise
  return {
    host: HOSTS.find((host) => host.id === id) as Host,
    file: path,
    scope: byPath === undefined ? 'user' : 'project',
  }
}

interface SettingsText extends SettingsFile {
  readonly text: string
  readonly machine: Machine
}

/** Hosts that read their files with `JSON.parse`, which accepts no comments. */
const STRICT_JSON = ['claude-code', 'claude-desktop']

/** The names of the member that contains the servers, in all hosts. */
const ROOTS = ['mcpServers', 'servers', 'mcp_servers', 'extensions']

async function checkFile({ host, file, scope, text, machine }: SettingsText, diagnosis: Diagnosis): Promise<string[]> {
  let settings: unknown
  try {
    settings = await parseSettings(file, text, host.format)
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    diagnosis.add('config-syntax', error.message)
    return []
  }
  if (host.format === 'json') await checkJson({ host, file, text }, diagnosis)
  const [root = 'mcpServers'] = FORMATS[host.id]?.path ?? []
  const groups = groupsOf(settings, root, machine.cwd)
  if (groups.length === 0) {
    const wrong = ROOTS.find((name) => name !== root && isObject(settings) && isObject(settings[name]))
    if (wrong !== undefined) diagnosis.add('config-root', `${file}: "${wrong}"`, `{ "${root}": { … } }`)
    return []
  }
  const names: string[] = []
  for (const { place, servers, isProject } of groups) {
    for (const [name, entry] of Object.entries(servers)) {
      names.push(name)
      // Built-in extensions of Goose have no command.
      if (host.id === 'goose' && isObject(entry) && ['builtin', 'platform', 'frontend'].includes(String(entry.type)))
        continue
      const found = checkEntry({
        host: host.id,
        label: `${file}: ${place}.${name}`,
        entry,
        // Claude Code starts the servers of a project in the folder of the project, even if their settings are in the
        // user's file.
        scope: isProject ? 'project' : scope,
        machine,
        exists: programExists,
      })
      if (found !== undefined) diagnosis.add(found.id, found.seen, found.hint)
    }
  }
  if (names.length > 0) diagnosis.pass(`${file}: ${names.length} ${names.length === 1 ? 'server' : 'servers'} checked`)
  return names
}

/** Returns the objects with servers. The settings of Claude Code also have one object for each project. */
function groupsOf(settings: unknown, root: string, folder: string) {
  if (!isObject(settings)) return []
  const project = isObject(settings.projects) ? settings.projects[folder] : undefined
  const groups = [
    { place: root, servers: settings[root], isProject: false },
    { place: `projects.${folder}.${root}`, servers: isObject(project) ? project[root] : undefined, isProject: true },
  ]
  return groups.flatMap(({ servers, ...group }) => (isObject(servers) ? [{ ...group, servers }] : []))
}

/**
 * Finds names that occur twice, because hosts read only the last one. Finds comments in files that must not contain
 * comments.
 */
async function checkJson(
  { host, file, text }: Pick<SettingsText, 'host' | 'file' | 'text'>,
  diagnosis: Diagnosis,
): Promise<void> {
  const { parseTree } = await import('jsonc-parser')
  const plain = text.replace(/^\ufeff/, '')
  const lineOf = (offset: number) => plain.slice(0, offset).split('\n').length
  const visit = (node: import('jsonc-parser').Node | undefined, path: string): void => {
    const seen = new Set<unknown>()
    for (const child of node?.children ?? []) {
      const [key, value] = child.type === 'property' ? (child.children ?? []) : [undefined, child]
      const name: unknown = key?.value
      if (key !== undefined && seen.has(name)) {
        diagnosis.add('config-name-twice', `${file}:${lineOf(key.offset)}: ${path}${JSON.stringify(name)}`)
      }
      seen.add(name)
      visit(value, key === undefined ? path : `${path}${String(name)}.`)
    }
  }
  visit(parseTree(plain, [], { allowTrailingComma: true }), '')
  if (!STRICT_JSON.includes(host.id) || text.trim() === '') return
  try {
    JSON.parse(plain)
  } catch {
    diagnosis.add(
      'config-syntax',
      `${file}: a comment, or a comma before a closing bracket, which ${host.title} does not read`,
    )
  }
}

/** Returns whether the program exists: at its path, or in a folder of PATH. */
export function programExists(command: string, { env, platform, cwd }: Machine): boolean {
  const { isAbsolute, join } = pathsOf(platform)
  const endings = platform === 'win32' ? ['', ...(env.PATHEXT ?? '.COM;.EXE;.BAT;.CMD').split(';')] : ['']
  const hasFolder = /[\\/]/.test(command)
  const folders = hasFolder
    ? [isAbsolute(command) ? '' : cwd]
    : (env.PATH ?? env.Path ?? '').split(platform === 'win32' ? ';' : ':')
  return folders.some((folder) =>
    endings.some((ending) => {
      try {
        accessSync(folder === '' ? command + ending : join(folder, command + ending), constants.X_OK)
        return true
      } catch {
        return false
      }
    }),
  )
}
