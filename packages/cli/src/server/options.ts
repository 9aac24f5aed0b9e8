/** The options of commands that connect to a server, and of commands that serve one. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { isRevision, REVISIONS } from '@mcpx/protocol'
import type { Command } from 'commander'
import { usageError } from '../output/errors.ts'
import type { Terminal } from '../output/terminal.ts'
import { SERVER_HELP } from './target.ts'

/** The values of the options. */
export interface ServerOptions {
  readonly header: readonly string[]
  readonly token?: string
  readonly login: boolean
  readonly env: readonly string[]
  readonly era?: 'modern' | 'legacy' | (typeof REVISIONS)[number]
  readonly timeout?: number
  readonly connectTimeout?: number
  readonly config?: string
  readonly verbose?: boolean
  readonly json?: boolean
}

/**
 * Adds the argument `server` and the options of a connection. With `optional`, the server may be missing. `config` is
 * another description of the option `--config`.
 */
export function addServerArgument(
  command: Command,
  { optional = false, config = ['--config <file>', 'read names of servers from this settings file only'] } = {},
): Command {
  return addServerOptions(command.argument(optional ? '[server]' : '<server>', SERVER_HELP), config)
}

function addServerOptions(command: Command, [config = '', configHelp]: readonly string[]): Command {
  return addJsonOption(command)
    .option('--header <name:value>', 'send a header with each request; may be repeated', collect, [])
    .option('--token <token>', 'send this access token; default: the variable MCPX_TOKEN')
    .option('--no-login', 'do not open a browser to log in')
    .option(
      '--env <name=value>',
      'set a variable for the command, or pass on a variable by its name; may be repeated',
      collect,
      [],
    )
    .option('--era <era>', `speak modern, legacy, or a revision such as ${REVISIONS[0]}`, readEra)
    .option('--timeout <ms>', 'how long to wait for a response, in ms', positiveReader('--timeout'))
    .option('--connect-timeout <ms>', 'how long a server may take to start, in ms', positiveReader('--connect-timeout'))
    .option(config, configHelp)
    .option('-v, --verbose', 'show the messages and the standard error of the server')
}

/** The values of the options of commands that serve a file. */
export interface ServingOptions {
  readonly http?: boolean
  readonly stdio?: boolean
  readonly json?: boolean
  readonly port: string
  readonly host: string
  readonly path: string
}

/** Adds the argument `file` and the options of the address. */
export function addServingOptions(command: Command): Command {
  return command
    .argument('<file>', 'a file that exports a server, in TypeScript or JavaScript')
    .option('--http', 'serve over HTTP; the default in a terminal')
    .option('--stdio', 'serve over standard input and output; the default without a terminal')
    .option('--port <port>', 'the port; 0 for any free port', '3000')
    .option('--host <host>', 'the address to listen on', '127.0.0.1')
    .option('--path <path>', 'the path of the endpoint', '/mcp')
    .option('--json', 'print what happens as JSON, one event per line; over HTTP only')
}

/**
 * Returns the whole path of the file to serve, and whether it is served over HTTP.
 *
 * @throws CliError if the file does not exist, or if two options exclude each other
 */
export function readServing(
  file: string,
  { http, stdio, json }: ServingOptions,
  { cwd, stdin }: Terminal,
): { path: string; isHttp: boolean } {
  const path = resolve(cwd, file)
  if (!existsSync(path)) throw usageError(`The file ${path} does not exist`)
  if (http === true && stdio === true) throw usageError('--http and --stdio exclude each other')
  const isHttp = http ?? (stdio !== true && stdin.isTTY === true)
  if (json === true && !isHttp)
    throw usageError('--json: standard output carries the messages of the server', 'Add --http.')
  return { path, isHttp }
}

/** Adds `--json`. */
export function addJsonOption(command: Command): Command {
  return command.option('--json', 'print JSON')
}

/** Collects the values of an option that may be repeated. */
export function collect(value: string, earlier: readonly string[]): string[] {
  return [...earlier, value]
}

/** Returns a function that reads a number of ms. */
export function positiveReader(option: string): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (number > 0) return number
    throw usageError(`${option}: expected a positive number of ms, got ${JSON.stringify(value)}`)
  }
}

function readEra(value: string): string {
  if (value === 'modern' || value === 'legacy' || isRevision(value)) return value
  throw usageError(`--era: expected modern, legacy or one of ${REVISIONS.join(', ')}, got ${JSON.stringify(value)}`)
}

/** Reads `--header` values. */
export function readHeaders(values: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    values.map((value) => {
      const [, name, content] = /^([^\s:=]+)\s*[:=]\s*(.*)$/s.exec(value) ?? []
      if (name !== undefined && content !== undefined) return [name, content]
      // The value may be a secret.
      throw usageError('--header: expected a name and a value', 'Example: --header "X-Api-Key: abc"')
    }),
  )
}

/** Reads `--env` values. For a name without a value, uses the variable of this process. */
export function readVariables(
  values: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    values.map((value) => {
      const index = value.indexOf('=')
      if (index > 0) return [value.slice(0, index), value.slice(index + 1)]
      const inherited = env[value]
      if (inherited !== undefined) return [value, inherited]
      throw usageError(`--env: the variable ${JSON.stringify(value)} is not set`, 'Example: --env API_KEY=abc')
    }),
  )
}
