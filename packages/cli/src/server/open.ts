/**
 * Connects to the server that the user named: resolves the argument `server`, and applies the options of the
 * connection.
 */

import { resolve } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { type Client, type ClientOptions, connect, fromSettings } from '@mcpx/client'
import { type Connector, isObject, type Responder } from '@mcpx/protocol'
import type { HttpOptions } from '@mcpx/transport-http/client'
import type { CommandContext } from '../commands/index.ts'
import { CliError, connectError, usageError } from '../output/errors.ts'
import { plainText } from '../output/plain-text.ts'
import type { Terminal } from '../output/terminal.ts'
import { VERSION } from '../version.ts'
import { machineOf } from './hosts.ts'
import { readHeaders, readVariables, type ServerOptions } from './options.ts'
import { ServerStderr } from './server-stderr.ts'
import { findServers, parseSettings, readServersOf, selectServer } from './settings.ts'
import { readTarget, type Target } from './target.ts'

/** The server that the user named. No process was started and no request was sent yet. */
export interface ResolvedServer {
  readonly target: Target
  /** A name for people: the URL, the command, the path, or the name in the settings. */
  readonly label: string
  /** The connector for the server, or for a file the server itself. */
  readonly connector: Connector | Responder
  /** Hides further output of the server's standard error. Called when the server has started. */
  readonly hideStderr: () => void
}

/**
 * Resolves the argument `server`.
 *
 * @throws CliError if there is no such server
 */
export async function resolveServer(
  context: CommandContext,
  word: string,
  options: ServerOptions,
): Promise<ResolvedServer> {
  const { terminal } = context
  const target = readTarget(word, context.serverCommand, terminal.cwd)
  const stderr = new ServerStderr(context.output, terminal, options.verbose === true)
  const transports = createTransports(terminal, options, stderr)
  const [label, connector] = await resolveTarget(target, terminal, options, transports)
  return { target, label, connector, hideStderr: () => stderr.hide() }
}

async function resolveTarget(
  target: Target,
  terminal: Terminal,
  { config }: ServerOptions,
  transports: Transports,
): Promise<[label: string, connector: Connector | Responder]> {
  switch (target.kind) {
    case 'url':
      return [target.url.href, await transports.http(target.url.href)]
    case 'command': {
      const { command, args } = target
      return [[command, ...args].join(' '), await transports.spawn(command, args)]
    }
    case 'file':
      return [target.path, await connectorOfFile(target.path, terminal, transports)]
    case 'name': {
      const found =
        config === undefined
          ? await findServers(machineOf(terminal))
          : { servers: await readServersOf(resolve(terminal.cwd, config), terminal.cwd), problems: [] }
      const { name, entry, file } = selectServer(target.name, found)
      return [name, await connectorOfEntry(name, entry, file, terminal, transports)]
    }
    case 'stdin': {
      const settings = await parseSettings('standard input', await readSettingsText(terminal), 'json')
      const [name, entry] = entryOf(settings)
      return [name, await connectorOfEntry(name, entry, 'standard input', terminal, transports)]
    }
  }
}

/**
 * Connects to the server that a user named, runs a function with the client, and closes the connection. Returns what the
 * function returns.
 *
 * @param clientOptions additional options of `connect`
 */
export async function useServer<T>(
  context: CommandContext,
  word: string,
  options: ServerOptions,
  run: (client: Client, server: ResolvedServer) => Promise<T>,
  clientOptions: ClientOptions = {},
): Promise<T> {
  const server = await resolveServer(context, word, options)
  const client = await openServer(context, server, options, clientOptions)
  // Do not use `await using`, which Node 20 and 22 do not support.
  try {
    return await run(client, server)
  } finally {
    await client.close()
  }
}

/** Connects to a resolved server. Close the client at the end. */
export async function openServer(
  { terminal, output }: CommandContext,
  { connector, label, hideStderr }: ResolvedServer,
  options: ServerOptions,
  clientOptions: ClientOptions = {},
): Promise<Client> {
  const { stderr, env, signal } = terminal
  const isVerbose = options.verbose === true || !['', '0', 'false', undefined].includes(env.MCPX_DEBUG)
  try {
    const client = await connect(connector, {
      clientInfo: { name: 'mcpx', version: VERSION },
      era: options.era,
      timeout: options.timeout,
      connectTimeout: options.connectTimeout,
      signal,
      debug: isVerbose ? (line) => void stderr.write(`${plainText(line)}\n`) : false,
      onWarning: isVerbose ? (warning) => output.note(`warning: ${warning.message}`) : undefined,
      ...clientOptions,
    })
    hideStderr()
    return client
  } catch (error) {
    throw connectError(label, error, options.login && terminal.isInteractive)
  }
}

const SETTINGS_EXAMPLE = 'Example: echo \'{"url":"https://example.com/mcp"}\' | mcpx list -'

interface Transports {
  spawn(
    command: string,
    args: readonly string[],
    options?: { env?: Record<string, string>; cwd?: string },
  ): Promise<Connector>
  http(url: string, options?: { headers?: Record<string, string>; fetch?: HttpOptions['fetch'] }): Promise<Connector>
}

/** Returns functions that create connectors. The functions load the transport packages when they are called. */
function createTransports(terminal: Terminal, options: ServerOptions, stderr: ServerStderr): Transports {
  const headers = readHeaders(options.header)
  if (options.token !== undefined) headers.Authorization = `Bearer ${options.token}`
  const variables = readVariables(options.env, terminal.env)
  return {
    async spawn(command, args, { env, cwd } = {}) {
      const { spawn } = await import('@mcpx/transport-stdio')
      const write = (text: string) => stderr.write(text)
      return spawn(command, args, { env: { ...env, ...variables }, stderr: write, ...(cwd && { cwd }) })
    },
    async http(url, { headers: given, fetch } = {}) {
      const { http } = await import('@mcpx/transport-http/client')
      // MCPX_TOKEN must not replace a token in the settings of the server.
      const { MCPX_TOKEN: token } = terminal.env
      const own = mergeHeaders(given, headers)
      const all = token && !own.has('authorization') ? mergeHeaders(own, { authorization: `Bearer ${token}` }) : own
      const isAuthorized = all.has('authorization') || fetch !== undefined
      const auth = isAuthorized ? undefined : (await import('./login.ts')).createAuth(terminal, options.login)
      return http(url, { headers: Object.fromEntries(all), fetch, auth })
    },
  }
}

/** Adds headers. Header names are not case-sensitive. */
function mergeHeaders(
  first: ConstructorParameters<typeof Headers>[0],
  second: Readonly<Record<string, string>>,
): Headers {
  try {
    const all = new Headers(first)
    for (const [name, value] of Object.entries(second)) all.set(name, value)
    return all
  } catch {
    // The error of the platform quotes the value, which may be a secret.
    throw usageError('A header or a token contains characters that HTTP does not allow')
  }
}

async function connectorOfFile(
  path: string,
  terminal: Terminal,
  transports: Transports,
): Promise<Connector | Responder> {
  const { loadServer, servesItself } = await import('./module-file.ts')
  if (await servesItself(path)) {
    // `mcpx run` serves the export of the file. If the file starts a server, `mcpx run` only runs the file.
    const [command, ...args] = terminal.program
    return transports.spawn(command, [...args, 'run', path, '--stdio'])
  }
  // The server may log to standard output, which must contain only the result.
  terminal.guardStdout()
  const loaded = await loadServer(path)
  if (loaded.kind === 'server') return loaded.server
  const appFetch = (input: string | URL | Request, init?: RequestInit) =>
    Promise.resolve(loaded.fetch(new Request(input, init)))
  return transports.http('http://localhost/mcp', { fetch: appFetch })
}

async function connectorOfEntry(
  name: string,
  entry: Record<string, unknown>,
  file: string,
  { env, cwd }: Terminal,
  transports: Transports,
): Promise<Connector> {
  // `fromSettings` calls these functions synchronously, so load the transport after it has read the entry.
  let create: (() => Promise<Connector>) | undefined
  const later = (loader: () => Promise<Connector>): Connector => {
    create = loader
    return { connect: async (options) => (await loader()).connect(options) }
  }
  try {
    fromSettings(
      { mcpServers: { [name]: entry } },
      {
        spawn: (...args) => later(() => transports.spawn(...args)),
        http: (...args) => later(() => transports.http(...args)),
        variables: { ...env, workspaceFolder: cwd },
      },
    )
  } catch (cause) {
    throw usageError(`${file}: ${(cause as Error).message}`)
  }
  if (create === undefined) throw new CliError('bug', `${file}: the server ${name} was left out`)
  return create()
}

async function readSettingsText({ stdin }: Terminal): Promise<string> {
  const text = await readAll(stdin)
  if (text.trim() !== '') return text
  throw usageError('standard input: expected the settings of a server, got nothing', SETTINGS_EXAMPLE)
}

/** Returns the server of settings from standard input: one entry, or an object with one named entry. */
function entryOf(settings: unknown): [name: string, entry: Record<string, unknown>] {
  const { mcpServers, servers } = isObject(settings) ? settings : {}
  const entries = Object.entries(mcpServers ?? servers ?? { stdin: settings })
  const [[name, entry] = ['', undefined], ...others] = entries
  if (others.length > 0) {
    const names = entries.map(([each]) => each).join(', ')
    throw usageError(
      `standard input: expected one server, got ${names}`,
      'Example: jq .mcpServers.shop .mcp.json | mcpx list -',
    )
  }
  if (isObject(entry)) return [name, entry]
  throw usageError('standard input: expected the settings of a server', SETTINGS_EXAMPLE)
}
