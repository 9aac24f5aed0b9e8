/** Reads the servers in the settings of hosts: `mcpServers` of Claude and Cursor, or `servers` of VS Code. */

import { type Connector, isObject, kindOf, nearestName, quoted, refuseUnknownOption } from '@mcpx/protocol'
import { checkServerName, MAX_SERVER_NAME } from './group-names.ts'

/** The functions that connect to servers, and the values of the variables in the settings. */
export interface SettingsOptions {
  /** Connects to a program: `spawn` of `@mcpx/transport-stdio`, or a function that calls it with more options. */
  readonly spawn?:
    | ((command: string, args: readonly string[], options: { env?: Record<string, string>; cwd?: string }) => Connector)
    | undefined
  /** Connects to a URL: `http` of `@mcpx/transport-http/client`, or a function that calls it with more options. */
  readonly http?: ((url: string, options: { headers?: Record<string, string> }) => Connector) | undefined
  /**
   * The values of variables, for example `process.env`. They replace the placeholders `${NAME}`, `${NAME:-default}` and
   * `${env:NAME}`. To replace an input of VS Code, such as `${input:key}`, add the member `'input:key'`. If a
   * placeholder has neither a value nor a default, `fromSettings` throws. If this option is missing, placeholders are not
   * replaced.
   */
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined
}

/**
 * Reads the settings of a host, and returns a connector for each server. Disabled servers are left out. No process is
 * started before `connect` or `connectAll`.
 *
 * ```ts
 * const settings = JSON.parse(await readFile('.mcp.json', 'utf8'))
 * await using all = await connectAll(fromSettings(settings, { spawn, http }))
 * ```
 *
 * @param settings an object with `mcpServers`, or with `servers` as in VS Code. Each server has `command`, `args`, `env`
 * and `cwd`, or `url` and `headers`. It may also have `type`, and `disabled` or `enabled`. `serverUrl` and `httpUrl`
 * mean `url`. Other members, which hosts use for other purposes, are ignored.
 * @throws TypeError if the settings are invalid, a member name is probably misspelled, or a transport is missing. The
 * message names the place in the settings
 * @throws RangeError if two names become equal
 * @returns the connectors by name. Names are converted to names that `connectAll` accepts: `Sequential Thinking`
 * becomes `Sequential_Thinking`, `@acme/mail` becomes `acme_mail`
 */
export function fromSettings(settings: unknown, options: SettingsOptions): Record<string, Connector> {
  refuseUnknownOption('fromSettings', options, ['spawn', 'http', 'variables'], WRONG_OPTIONS)
  checkOptionTypes(options)
  const [root, servers] = serversOf(settings)
  const connectors = new Map<string, Connector>()
  const givenNames = new Map<string, string>()
  for (const [name, given] of Object.entries(servers)) {
    const place = `${root}.${name}`
    const entry = objectAt(place, given)
    if (!isSwitchedOn(place, entry)) continue
    const validName = validNameOf(name)
    checkServerName(root, validName)
    const other = givenNames.get(validName)
    if (other !== undefined) {
      throw new RangeError(
        `${root}: ${quoted(other)} and ${quoted(name)} both become ${quoted(validName)}; rename one of them`,
      )
    }
    givenNames.set(validName, name)
    connectors.set(validName, connectorOf(place, entry, options))
  }
  return Object.fromEntries(connectors)
}

/** Converts the name of a server to a name that `connectAll` accepts. */
function validNameOf(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9_-]+/g, '_').replace(/^_+/, '')
  return (/^[A-Za-z]/.test(safe) ? safe : `server_${safe}`).slice(0, MAX_SERVER_NAME)
}

function checkOptionTypes({ spawn, http, variables }: SettingsOptions): void {
  for (const [name, transport] of Object.entries({ spawn, http })) {
    if (transport === undefined || typeof transport === 'function') continue
    throw new TypeError(`fromSettings: ${name}: expected function, got ${kindOf(transport)}`)
  }
  if (variables !== undefined) objectAt('fromSettings: variables', variables)
}

/** Frequent mistakes in option names, with the correct names. */
const WRONG_OPTIONS = { stdio: 'spawn', env: 'variables', url: 'http' }

function serversOf(settings: unknown): [root: string, servers: Record<string, unknown>] {
  const { mcpServers, servers } = isObject(settings) ? settings : {}
  if (mcpServers === undefined && servers === undefined) {
    const names = isObject(settings) ? Object.keys(settings).map(quoted).join(', ') : undefined
    const got = names === undefined ? kindOf(settings) : names && `the members ${names}`
    throw new TypeError(`settings: expected an object with "mcpServers" or "servers", got ${got || 'an empty object'}`)
  }
  return mcpServers === undefined
    ? ['servers', objectAt('servers', servers)]
    : ['mcpServers', objectAt('mcpServers', mcpServers)]
}

/** The members of a server's settings that this module reads. */
const MEMBERS = ['type', 'command', 'args', 'env', 'cwd', 'url', 'headers', 'disabled', 'enabled']
/** Frequent mistakes in member names, with the correct names. */
const WRONG_MEMBERS: ReadonlyMap<string, string> = new Map([
  ['cmd', 'command'],
  ['arguments', 'args'],
  ['environment', 'env'],
  ['workingDirectory', 'cwd'],
  ['uri', 'url'],
])
/** The names that Windsurf and Gemini CLI use for `url`. */
const OTHER_URLS = ['serverUrl', 'httpUrl']

/** The values of `type`, with the member that a server of this type must have. */
const TYPES: Readonly<Record<string, 'command' | 'url'>> = {
  stdio: 'command',
  http: 'url',
  'streamable-http': 'url',
  streamableHttp: 'url',
  sse: 'url',
}

function isSwitchedOn(place: string, { disabled = false, enabled = true }: Record<string, unknown>): boolean {
  for (const [name, value] of Object.entries({ disabled, enabled })) {
    if (typeof value !== 'boolean') throw new TypeError(`${place}.${name}: expected boolean, got ${kindOf(value)}`)
  }
  return enabled === true && disabled === false
}

function connectorOf(place: string, entry: Record<string, unknown>, options: SettingsOptions): Connector {
  refuseMisspelled(place, entry)
  const urlMember = OTHER_URLS.find((name) => entry[name] !== undefined) ?? 'url'
  const isUrl = entry[urlMember] !== undefined
  if (isUrl === (entry.command !== undefined)) {
    throw new TypeError(`${place}: expected either "command" or "url", got ${isUrl ? 'both' : 'neither'}`)
  }
  checkType(`${place}.type`, entry.type, isUrl ? 'url' : 'command')
  const read = new SettingsReader(options.variables)
  if (isUrl) {
    const { http } = options
    if (http === undefined) throw missingTransport(place, 'http', '@mcpx/transport-http/client')
    const url = read.string(`${place}.${urlMember}`, entry[urlMember])
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new TypeError(`${place}.${urlMember}: expected a URL such as "https://example.com/mcp"`)
    const headers = read.strings(`${place}.headers`, entry.headers)
    return http(url, { ...(headers && { headers }) })
  }
  const { spawn } = options
  if (spawn === undefined) throw missingTransport(place, 'spawn', '@mcpx/transport-stdio')
  const command = read.string(`${place}.command`, entry.command)
  const args = read.list(`${place}.args`, entry.args)
  const env = read.strings(`${place}.env`, entry.env)
  const cwd = entry.cwd === undefined ? undefined : read.string(`${place}.cwd`, entry.cwd)
  return spawn(command, args, { ...(env && { env }), ...(cwd && { cwd }) })
}

/**
 * Throws if a member name is probably misspelled. Other unknown members are accepted, because hosts use them for other
 * purposes.
 */
function refuseMisspelled(place: string, entry: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(entry)) {
    if (MEMBERS.includes(name) || OTHER_URLS.includes(name)) continue
    const meant = WRONG_MEMBERS.get(name) ?? nearestName(name, MEMBERS)
    if (meant === undefined) continue
    throw new TypeError(`${place}: there is no member ${quoted(name)}; did you mean ${quoted(meant)}?`)
  }
}

function checkType(place: string, type: unknown, expected: 'command' | 'url'): void {
  if (type === undefined || (typeof type === 'string' && TYPES[type] === expected)) return
  const names = Object.keys(TYPES).filter((name) => TYPES[name] === expected)
  const shown = typeof type === 'string' ? quoted(type) : kindOf(type)
  throw new TypeError(`${place}: expected ${names.map(quoted).join(' or ')} for a ${expected}, got ${shown}`)
}

function missingTransport(place: string, name: string, packageName: string): TypeError {
  return new TypeError(`${place}: needs ${name} of ${packageName}; write fromSettings(settings, { ${name} })`)
}

function objectAt(place: string, value: unknown): Record<string, unknown> {
  if (isObject(value)) return value
  throw new TypeError(`${place}: expected object, got ${kindOf(value)}`)
}

/** Reads strings and replaces the variables in them. Errors contain no values, because values may be secrets. */
class SettingsReader {
  readonly #variables: SettingsOptions['variables']

  constructor(variables: SettingsOptions['variables']) {
    this.#variables = variables
  }

  string(place: string, value: unknown): string {
    if (typeof value !== 'string') throw new TypeError(`${place}: expected string, got ${kindOf(value)}`)
    if (value === '') throw new TypeError(`${place}: expected a string that is not empty`)
    return this.#replace(place, value)
  }

  list(place: string, value: unknown = []): string[] {
    if (!Array.isArray(value)) throw new TypeError(`${place}: expected array, got ${kindOf(value)}`)
    return value.map((item, index) => this.#stringOrEmpty(`${place}[${index}]`, item))
  }

  strings(place: string, value: unknown): Record<string, string> | undefined {
    if (value === undefined) return undefined
    const entries = Object.entries(objectAt(place, value))
    return Object.fromEntries(entries.map(([name, item]) => [name, this.#stringOrEmpty(`${place}.${name}`, item)]))
  }

  #stringOrEmpty(place: string, value: unknown): string {
    return value === '' ? '' : this.string(place, value)
  }

  #replace(place: string, text: string): string {
    const variables = this.#variables
    if (variables === undefined) return text
    return text.replace(
      /\$\{(?:env:)?([A-Za-z_]\w*|input:[\w.-]+)(?::-([^}]*))?\}/g,
      (_, name: string, otherwise?: string) => {
        const value = Object.hasOwn(variables, name) ? variables[name] : undefined
        // As in a shell, the default replaces an empty value, too.
        const replaced = value === '' && otherwise !== undefined ? otherwise : (value ?? otherwise)
        if (replaced !== undefined) return replaced
        throw new TypeError(
          `${place}: the variable ${quoted(name)} has no value; set it, or write \${${name}:-default}`,
        )
      },
    )
  }
}
