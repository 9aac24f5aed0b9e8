/** The settings of one server, in the form of each host. */

import { posix, win32 } from 'node:path'
import { CliError, usageError } from '../output/errors.ts'

/** A server, independent of the host. */
export type InstalledServer =
  | {
      readonly kind: 'command'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
    }
  | { readonly kind: 'url'; readonly url: string; readonly headers: Readonly<Record<string, string>> }

/** The format of the settings of a host. */
export interface HostFormat {
  /** The names of the nested members that contain the servers. */
  readonly path: readonly string[]
  /** Returns the settings of the server. Throws a `CliError` if the host cannot use it. */
  entry(server: InstalledServer, name: string): Record<string, unknown>
  /** Instructions for the user after the settings were written. */
  readonly next: string
}

/** The formats by the ids of the hosts. */
export const FORMATS: Readonly<Record<string, HostFormat>> = {
  'claude-code': {
    path: ['mcpServers'],
    entry: (server) => (server.kind === 'url' ? { type: 'http', ...remote(server) } : local(server)),
    next: 'Start Claude Code again, and check it with /mcp.',
  },
  'claude-desktop': {
    path: ['mcpServers'],
    entry: (server) => {
      if (server.kind === 'command') return local(server)
      throw new CliError(
        'usage',
        'claude-desktop: the settings file has no servers with a URL',
        'Add the URL in the application: Settings, Connectors, Add custom connector.',
      )
    },
    next: 'Quit Claude Desktop and start it again.',
  },
  cursor: {
    path: ['mcpServers'],
    entry: (server) => (server.kind === 'url' ? remote(server) : local(server)),
    next: 'Enable the server in Cursor: Settings, MCP.',
  },
  'vs-code': {
    path: ['servers'],
    entry: (server) =>
      server.kind === 'url' ? { type: 'http', ...remote(server) } : { type: 'stdio', ...local(server) },
    next: 'Start the server in VS Code with the command "MCP: List Servers".',
  },
  windsurf: {
    path: ['mcpServers'],
    entry: (server) =>
      server.kind === 'url' ? { serverUrl: server.url, ...filled('headers', server.headers) } : local(server),
    next: 'Refresh the servers in Windsurf: Settings, Cascade, MCP Servers.',
  },
  codex: {
    path: ['mcp_servers'],
    entry: (server) =>
      server.kind === 'url' ? { url: server.url, ...filled('http_headers', server.headers) } : local(server),
    next: 'Start Codex again.',
  },
  gemini: {
    path: ['mcpServers'],
    entry: (server) =>
      server.kind === 'url' ? { httpUrl: server.url, ...filled('headers', server.headers) } : local(server),
    next: 'Start Gemini CLI again, and check it with /mcp.',
  },
  goose: {
    path: ['extensions'],
    entry: (server, name) => ({
      name,
      enabled: true,
      timeout: 300,
      ...(server.kind === 'url'
        ? { type: 'streamable_http', uri: server.url, ...filled('headers', server.headers) }
        : { type: 'stdio', cmd: server.command, args: [...server.args], ...filled('envs', server.env) }),
    }),
    next: 'Start a new session of Goose.',
  },
}

function local({ command, args, env }: Extract<InstalledServer, { kind: 'command' }>): Record<string, unknown> {
  return { command, args: [...args], ...filled('env', env) }
}

function remote({ url, headers }: Extract<InstalledServer, { kind: 'url' }>): Record<string, unknown> {
  return { url, ...filled('headers', headers) }
}

function filled(name: string, members: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.keys(members).length === 0 ? {} : { [name]: { ...members } }
}

/** Programs that are scripts on Windows. Hosts can start them only with `cmd`. */
const WINDOWS_SCRIPTS = /^(?:npx|npm|pnpm|pnpx|yarn|bunx|uvx?|pipx|deno|tsx|mcpx)(?:\.cmd)?$|\.(?:cmd|bat)$/i

/** Returns the command with which a host starts the server on this platform. */
export function commandFor(
  platform: NodeJS.Platform,
  command: string,
  args: readonly string[],
): { readonly command: string; readonly args: readonly string[] } {
  const isScript = platform === 'win32' && WINDOWS_SCRIPTS.test(win32.basename(command))
  return isScript ? { command: 'cmd', args: ['/c', command, ...args] } : { command, args }
}

/** Returns a name for the server: the given name, or a name from its URL, file or command. */
export function nameFor(given: string | undefined, server: InstalledServer, words: readonly string[]): string {
  const name = given ?? (server.kind === 'url' ? nameOfUrl(server.url) : nameOfCommand(words))
  if (/^[\w-]{1,64}$/.test(name)) return name
  if (given !== undefined) {
    throw usageError(`--name: expected 1 to 64 letters, digits, _ and -, got ${JSON.stringify(given)}`)
  }
  const cleaned = name.replace(/[^\w-]+/g, '-').replace(/^-+|(?<!-)-+$/g, '')
  if (cleaned !== '') return cleaned.slice(0, 64)
  throw usageError('The server needs a name', 'Write --name <name>.')
}

function nameOfUrl(url: string): string {
  const labels = new URL(url).hostname.split('.').filter((label) => !['www', 'mcp', 'api'].includes(label))
  return labels.length > 1 ? (labels.at(-2) as string) : (labels[0] ?? '')
}

/** Programs that start other programs, and their subcommands. */
const RUNNERS =
  /^(?:npx|pnpx|bunx|uvx|npm|pnpm|yarn|bun|deno|node|tsx|uv|pipx|python3?|docker|cmd|sh|exec|dlx|run|x|tool)(?:\.exe|\.cmd)?$/i

/** Returns the first word that is neither a runner nor an option, without folder, scope, version and extension. */
function nameOfCommand(words: readonly string[]): string {
  const names = words.map((word) => posix.basename(word.replaceAll('\\', '/')))
  const named = names.find((name) => name !== '' && !/^[-/]/.test(name) && !RUNNERS.test(name)) ?? names[0] ?? ''
  return named.replace(/(.)@[^@]*$/, '$1').replace(/\.(?:[cm]?[jt]sx?|py|exe)$/, '')
}
