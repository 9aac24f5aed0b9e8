/** Checks the settings of one server as a host reads them. */

import { existsSync } from 'node:fs'
import { isObject, kindOf, nearestName } from '@mcpx/protocol'
import { commandFor } from '../install/entries.ts'
import { type Machine, pathsOf } from '../server/hosts.ts'
import type { FindingId } from './findings.ts'

/** The settings of a server. */
export interface SettingsEntry {
  /** The id of the host. */
  readonly host: string
  /** The file and the place in it. */
  readonly label: string
  readonly entry: unknown
  readonly scope: 'project' | 'user'
  readonly machine: Machine
  /** Returns whether a program exists. */
  exists(command: string, machine: Machine): boolean
}

/** The names that hosts use for each member. The first name is the most common. */
const MEMBERS = {
  command: ['command', 'cmd'],
  args: ['args', 'arguments'],
  env: ['env', 'envs', 'environment'],
  url: ['url', 'serverUrl', 'httpUrl', 'uri'],
  headers: ['headers', 'http_headers'],
  cwd: ['cwd', 'workingDirectory'],
} as const

type Member = keyof typeof MEMBERS

/** The hosts that use other names than most hosts. */
const NAMES: Readonly<Record<string, Partial<Record<Member, readonly string[]>>>> = {
  windsurf: { url: ['serverUrl'] },
  gemini: { url: ['httpUrl', 'url'] },
  codex: { headers: ['http_headers', 'env_http_headers'] },
  goose: { command: ['cmd'], env: ['envs'], url: ['uri'] },
}

/** A problem of an entry. */
export interface EntryProblem {
  readonly id: FindingId
  readonly seen: string
  /** The corrected text. */
  readonly hint?: string
}

function problem(id: FindingId, seen: string, hint?: string): EntryProblem {
  return { id, seen, ...(hint !== undefined && { hint }) }
}

/** Returns the first problem of an entry. A disabled server is not checked. */
export function checkEntry(settings: SettingsEntry): EntryProblem | undefined {
  const { entry, label, host } = settings
  if (!isObject(entry)) return problem('config-value', `${label}: ${kindOf(entry)}`, '{ "command": "…", "args": [] }')
  if (entry.disabled === true || entry.enabled === false) return undefined
  const members = readMembers(settings, entry)
  if ('id' in members) return members
  const { command, url } = members
  if ((command === undefined) === (url === undefined)) {
    const [commandName, urlName] = [nameOf(host, 'command'), nameOf(host, 'url')]
    const seen = `${label}: ${command === undefined ? 'neither' : 'both'} of "${commandName}" and "${urlName}"`
    return problem('config-transport', seen, `{ "${commandName}": "…", "args": [] } or { "${urlName}": "https://…" }`)
  }
  const found = url === undefined ? checkCommand(settings, members) : checkUrl(settings, url, entry)
  return found ?? checkVariables(settings, entry)
}

function nameOf(host: string, member: Member): string {
  return NAMES[host]?.[member]?.[0] ?? MEMBERS[member][0]
}

interface Members {
  readonly command?: string
  readonly args?: readonly string[]
  readonly url?: string
  readonly cwd?: string
}

/**
 * Returns the members of an entry. Returns a problem if a member has the name that another host uses, or a value of a
 * wrong type.
 */
function readMembers({ host, label }: SettingsEntry, entry: Record<string, unknown>): Members | EntryProblem {
  const found: Record<string, unknown> = {}
  for (const [member, all] of Object.entries(MEMBERS) as [Member, readonly string[]][]) {
    const right = NAMES[host]?.[member] ?? [MEMBERS[member][0]]
    const name = right.find((each) => entry[each] !== undefined)
    const wrong =
      all.find((each) => !right.includes(each) && entry[each] !== undefined) ??
      (name === undefined ? misspelled(entry, [...right, ...all]) : undefined)
    if (name === undefined && wrong !== undefined) {
      return problem('config-key', `${label}: "${wrong}"`, `"${right[0]}": ${shownValue(member)}`)
    }
    const value = name === undefined ? undefined : entry[name]
    const wrongType = value === undefined ? undefined : typeProblem(member, value)
    if (wrongType !== undefined) {
      return problem('config-value', `${label}.${name}: ${wrongType}`, `"${name}": ${shownValue(member)}`)
    }
    if (value !== undefined) found[member] = value
  }
  return found
}

/** Member names that are used for the same purpose by other hosts. */
const OTHERS = [
  'type',
  'name',
  'disabled',
  'enabled',
  'timeout',
  'trust',
  'description',
  'envFile',
  'env_vars',
  'env_keys',
  'headersHelper',
]

function misspelled(entry: Record<string, unknown>, names: readonly string[]): string | undefined {
  const known: readonly string[] = [...Object.values(MEMBERS).flat(), ...OTHERS]
  return Object.keys(entry).find((key) => !known.includes(key) && nearestName(key, [...names]) !== undefined)
}

function typeProblem(member: Member, value: unknown): string | undefined {
  if (member === 'args') {
    if (!Array.isArray(value)) return `expected a list of strings, got ${kindOf(value)}`
    const index = value.findIndex((each) => typeof each !== 'string')
    return index < 0 ? undefined : `expected strings, got ${kindOf(value[index])} at ${index}`
  }
  if (member === 'env' || member === 'headers') {
    if (!isObject(value)) return `expected an object, got ${kindOf(value)}`
    const wrong = Object.entries(value).find(([, each]) => typeof each !== 'string')
    return wrong === undefined ? undefined : `expected strings, got ${kindOf(wrong[1])} for ${JSON.stringify(wrong[0])}`
  }
  return typeof value === 'string' && value.trim() !== ''
    ? undefined
    : `expected a string, got ${value === '' ? 'an empty one' : kindOf(value)}`
}

function shownValue(member: Member): string {
  if (member === 'args') return '["-y", "@acme/server"]'
  if (member === 'env') return '{ "NAME": "value" }'
  if (member === 'headers') return '{ "Authorization": "Bearer …" }'
  return member === 'url' ? '"https://example.com/mcp"' : '"…"'
}

function checkUrl(
  { host, label }: SettingsEntry,
  url: string,
  { type }: Record<string, unknown>,
): EntryProblem | undefined {
  if (host === 'claude-desktop') {
    const hint = `{ "command": "npx", "args": ["-y", "mcp-remote", ${JSON.stringify(url)}] }`
    return problem('config-remote', `${label}: a URL`, hint)
  }
  if (host === 'claude-code' && type === undefined) {
    return problem('config-type', `${label}: no "type"`, `"type": "http", "url": ${JSON.stringify(url)}`)
  }
  // Hosts replace variables, so check only the rest of the URL.
  const text = url.replace(/\$\{[^{}]*\}/g, 'x')
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    return problem('config-url', `${label}: not an http or https URL`, '"https://example.com/mcp"')
  }
  const isLocal = /^(?:localhost|.*\.local|127(?:\.\d+){3}|10(?:\.\d+){3}|192\.168(?:\.\d+){2}|\[::1\]|[^.]+)$/.test(
    parsed.hostname,
  )
  if (parsed.protocol === 'http:' && !isLocal) {
    return problem(
      'config-http',
      `${label}: ${parsed.origin}`,
      JSON.stringify(`https://${parsed.host}${parsed.pathname}`),
    )
  }
  return undefined
}

function checkCommand(settings: SettingsEntry, { command = '', args = [], cwd }: Members): EntryProblem | undefined {
  const { label, machine, scope } = settings
  const { isAbsolute, join } = pathsOf(machine.platform)
  if (/\$\{[^{}]*\}|^~/.test(command)) return undefined
  const [first = '', ...rest] = command.trim().split(/\s+/)
  if (rest.length > 0 && !settings.exists(command, machine) && settings.exists(first, machine)) {
    const hint = `"command": ${JSON.stringify(first)}, "args": ${JSON.stringify([...rest, ...args])}`
    return problem('config-command-line', `${label}: ${JSON.stringify(command)}`, hint)
  }
  const isPath = /[\\/]/.test(command)
  const relative = [...(isPath ? [command] : []), ...args].filter((word) => isRelativeFile(word, isAbsolute))
  // Hosts start the servers of a project in the folder of the project, and all other servers in the folder of the host.
  if (scope === 'user' && cwd === undefined && relative[0] !== undefined) {
    const hint = JSON.stringify(join(machine.cwd, relative[0]))
    return problem('config-relative-path', `${label}: ${JSON.stringify(relative[0])}`, hint)
  }
  if (!settings.exists(command, cwd === undefined ? machine : { ...machine, cwd })) {
    const hint = isPath ? undefined : `"command": "/full/path/of/${command}"  (the output of: which ${command})`
    return problem('config-command', `${label}: ${JSON.stringify(command)}`, hint)
  }
  const started = commandFor(machine.platform, command, args)
  if (started.command !== command) {
    const hint = `"command": ${JSON.stringify(started.command)}, "args": ${JSON.stringify(started.args)}`
    return problem('config-windows-script', `${label}: ${JSON.stringify(command)}`, hint)
  }
  const missing = args.find((word) => isAbsolute(word) && SCRIPT.test(word) && !existsSync(word))
  return missing === undefined ? undefined : problem('config-file', `${label}: ${JSON.stringify(missing)}`)
}

const SCRIPT = /\.(?:[cm]?[jt]sx?|py|rb|jar|sh)$/i

function isRelativeFile(word: string, isAbsolute: (path: string) => boolean): boolean {
  if (isAbsolute(word) || /^(?:-|~|@|\$\{)|:\/\//.test(word)) return false
  return /^\.{1,2}[\\/]/.test(word) || (SCRIPT.test(word) && !/\s/.test(word))
}

/** Hosts that replace `${NAME}` by an environment variable. */
const EXPANDING = ['claude-code', 'gemini', 'codex']

/** Finds variables without a value, and placeholders that were never replaced. */
function checkVariables(
  { host, label, machine }: SettingsEntry,
  entry: Record<string, unknown>,
): EntryProblem | undefined {
  const pattern = EXPANDING.includes(host) ? /\$\{(?:env:)?([A-Za-z_]\w*)\}/g : /\$\{env:([A-Za-z_]\w*)\}/g
  const unset = [...JSON.stringify(entry).matchAll(pattern)]
    .map(([, name = '']) => name)
    .find((name) => (machine.env[name] ?? '') === '' && !/^(?:workspaceFolder|userHome|CLAUDE_)/.test(name))
  if (unset !== undefined) return problem('config-variable', `${label}: \${${unset}}`, `export ${unset}=…`)
  for (const name of [...MEMBERS.env, ...MEMBERS.headers]) {
    const values = Object.entries(isObject(entry[name]) ? entry[name] : {})
    const [blank] = values.find(([, value]) => isPlaceholder(String(value))) ?? []
    if (blank !== undefined) return problem('config-placeholder', `${label}.${name}: ${JSON.stringify(blank)}`)
  }
  return undefined
}

function isPlaceholder(value: string): boolean {
  const text = value.replace(/^bearer /i, '').trim()
  return /^$|^<[^>]*>$|^\[?your[-_ ]|^xxx+$|^\.{3}$|^…$|^changeme$|^replace[-_ ]?me/i.test(text)
}
