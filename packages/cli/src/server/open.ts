/** Connects to the server that a user named: resolves the argument `server`, and passes the options of the connection on. */

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
import { serverStderr } from './server-stderr.ts'
import { findServers, parseSettings, readServersOf, selectServer } from './settings.ts'
import { readTarget, type Target } from './target.ts'

/** A server that was named, ready to be connected to. Nothing has been started or requested yet. */
export interface ResolvedServer {
  readonly target: Target
  /** A name for people: the URL, the command, the path, or the name in the settings. */
  readonly label: string
  /** Connects to it; for a file, the server itself. */
  readonly connector: Connector | Responder
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
  const transports = createTransports(context, options)
  switch (target.kind) {
    case 'url':
      return { target, label: target.url.href, connector: await transports.http(target.url.href) }
    case 'command': {
      const { command, args } = target
      return { target, label: [command, ...args].join(' '), connector: await transports.spawn(command, args) }
    }
    case 'file':
      return { target, label: target.path, connector: await connectorOfFile(target.path, terminal, transports) }
    case 'name': {
      const found =
        options.config === undefined
          ? await findServers(machineOf(terminal))
          : { servers: await readServersOf(resolve(terminal.cwd, options.config), terminal.cwd), problems: [] }
      const { name, entry, file } = selectServer(target.name, found)
      return { target, label: name, connector: await connectorOfEntry(name, entry, file, terminal, transports) }
    }
    case 'stdin': {
      const settings = await parseSettings('standard input', await readSettingsText(terminal), 'json')
      const [name, entry] = entryOf(settings)
      return {
        target,
        label: name,
        connector: await connectorOfEntry(name, entry, 'standard input', terminal, transports),
      }
    }
  }
}

/**
 * Connects to the server that a user named, runs a function with the client, and closes the connection. Returns what the
 * function returns.
 *
 * @param clientOptions options of `connect` in addition to those of the command line
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
  // Not `await using`, which Node 20 and 22 do not support.
  try {
    return await run(client, server)
  } finally {
    await client.close()
  }
}

/** Connects to a resolved server. Close the client at the end. */
export async function openServer(
  { terminal, output }: CommandContext,
  { connector, label }: ResolvedServer,
  options: ServerOptions,
  clientOptions: ClientOptions = {},
): Promise<Client> {
  const { stderr, env, signal } = terminal
  const isVerbose = options.verbose === true || !['', '0', 'false', undefined].includes(env.MCPX_DEBUG)
  try {
    return await connect(connector, {
      clientInfo: { name: 'mcpx', version: VERSION },
      era: options.era,
      timeout: options.timeout,
      connectTimeout: options.connectTimeout,
      signal,
      debug: isVerbose ? (line) => void stderr.write(`${plainText(line)}\n`) : false,
      onWarning: isVerbose ? (warning) => output.note(`warning: ${warning.message}`) : undefined,
      ...clientOptions,
    })
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

/** Returns functions that create connectors. They load the packages of the transports when they are called. */
function createTransports({ terminal, output }: CommandContext, options: ServerOptions): Transports {
  const headers = readHeaders(options.header)
  const token = options.token ?? terminal.env.MCPX_TOKEN
  if (token !== undefined) headers.Authorization = `Bearer ${token}`
  const variables = readVariables(options.env, terminal.env)
  return {
    async spawn(command, args, { env, cwd } = {}) {
      const { spawn } = await import('@mcpx/transport-stdio')
      const stderr = serverStderr(output, terminal, options.verbose === true)
      return spawn(command, args, { env: { ...env, ...variables }, stderr, ...(cwd && { cwd }) })
    },
    async http(url, { headers: given, fetch } = {}) {
      const { http } = await import('@mcpx/transport-http/client')
      const all = { ...given, ...headers }
      const isAuthorized = Object.keys(all).some((name) => name.toLowerCase() === 'authorization')
      if (isAuthorized || fetch !== undefined) return http(url, { headers: all, fetch })
      const { createAuth } = await import('./login.ts')
      return http(url, { headers: all, auth: createAuth(terminal, options.login) })
    },
  }
}

async function connectorOfFile(
  path: string,
  terminal: Terminal,
  transports: Transports,
): Promise<Connector | Responder> {
  const { loadServer, servesItself } = await import('./module-file.ts')
  if (await servesItself(path)) {
    // The command `run` serves what the file exports, or lets the file serve itself.
    const [command, ...args] = terminal.program
    return transports.spawn(command, [...args, 'run', path, '--stdio'])
  }
  // The server may log to standard output, which belongs to the result.
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
  // `fromSettings` wants connectors at once. The transport is loaded after it has read the entry.
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

/** Returns the server of settings that were piped: one server, or an object with one of them. */
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
