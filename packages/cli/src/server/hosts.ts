/** The settings files of hosts: where they are on each platform, and the servers in them. */

import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { posix, win32 } from 'node:path'
import { isObject } from '@mcpx/protocol'
import type { Terminal } from '../output/terminal.ts'

/** The facts about a machine that determine the paths of settings. */
export interface Machine {
  readonly platform: NodeJS.Platform
  readonly env: Readonly<Record<string, string | undefined>>
  /** The home folder of the user. */
  readonly home: string
  readonly cwd: string
}

/** Returns these facts for the machine of this process. */
export function machineOf({ env, platform, cwd }: Terminal): Machine {
  const home = env.HOME ?? env.USERPROFILE ?? homedir()
  return { env, platform, cwd, home }
}

/** Returns the folder in which mcpx stores tokens and the command history of `mcpx shell`. */
export function mcpxFolder(terminal: Terminal): string {
  const { env, platform, home } = machineOf(terminal)
  const { join } = pathsOf(platform)
  if (platform === 'win32') return join(env.APPDATA ?? join(home, 'AppData', 'Roaming'), 'mcpx')
  return join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'mcpx')
}

/** A host with settings files. */
export interface Host {
  /** The name on the command line, such as `claude-code`. */
  readonly id: string
  readonly title: string
  readonly format: 'json' | 'toml' | 'yaml'
  /** Paths below the folder of a project. */
  readonly projectFiles: readonly string[]
  /** Returns the path of the user's own settings. */
  userFile(machine: Machine): string
  /**
   * Returns the servers of the parsed file by name, in the format of `fromSettings`. `folder` is the folder of the
   * project.
   */
  serversIn(settings: Record<string, unknown>, folder: string): Record<string, unknown>
}

/** All hosts. If several hosts have a server of the same name, the first host has precedence. */
export const HOSTS: readonly Host[] = [
  {
    id: 'claude-code',
    title: 'Claude Code',
    format: 'json',
    projectFiles: ['.mcp.json'],
    userFile: ({ home, platform }) => pathsOf(platform).join(home, '.claude.json'),
    serversIn: ({ mcpServers, projects }, folder) => ({
      ...membersOf(mcpServers),
      ...membersOf(membersOf(membersOf(projects)[folder]).mcpServers),
    }),
  },
  {
    id: 'claude-desktop',
    title: 'Claude Desktop',
    format: 'json',
    projectFiles: [],
    userFile: (machine) =>
      pathsOf(machine.platform).join(configFolder(machine), 'Claude', 'claude_desktop_config.json'),
    serversIn: ({ mcpServers }) => membersOf(mcpServers),
  },
  {
    id: 'cursor',
    title: 'Cursor',
    format: 'json',
    projectFiles: ['.cursor/mcp.json'],
    userFile: ({ home, platform }) => pathsOf(platform).join(home, '.cursor', 'mcp.json'),
    serversIn: ({ mcpServers }) => membersOf(mcpServers),
  },
  {
    id: 'vs-code',
    title: 'VS Code',
    format: 'json',
    projectFiles: ['.vscode/mcp.json'],
    userFile: (machine) => pathsOf(machine.platform).join(configFolder(machine), 'Code', 'User', 'mcp.json'),
    serversIn: ({ servers }) => membersOf(servers),
  },
  {
    id: 'windsurf',
    title: 'Windsurf',
    format: 'json',
    projectFiles: [],
    userFile: ({ home, platform }) => pathsOf(platform).join(home, '.codeium', 'windsurf', 'mcp_config.json'),
    serversIn: ({ mcpServers }) => membersOf(mcpServers),
  },
  {
    id: 'codex',
    title: 'Codex',
    format: 'toml',
    projectFiles: ['.codex/config.toml'],
    userFile: ({ home, platform, env }) =>
      pathsOf(platform).join(env.CODEX_HOME ?? pathsOf(platform).join(home, '.codex'), 'config.toml'),
    serversIn: ({ mcp_servers }) => mapMembers(mcp_servers, fromCodex),
  },
  {
    id: 'gemini',
    title: 'Gemini CLI',
    format: 'json',
    projectFiles: ['.gemini/settings.json'],
    userFile: ({ home, platform }) => pathsOf(platform).join(home, '.gemini', 'settings.json'),
    serversIn: ({ mcpServers }) => membersOf(mcpServers),
  },
  {
    id: 'goose',
    title: 'Goose',
    format: 'yaml',
    projectFiles: [],
    userFile(machine) {
      const { platform, env, home } = machine
      if (platform === 'win32') return win32.join(configFolder(machine), 'Block', 'goose', 'config', 'config.yaml')
      return posix.join(env.XDG_CONFIG_HOME ?? posix.join(home, '.config'), 'goose', 'config.yaml')
    },
    serversIn: ({ extensions }) => mapMembers(extensions, fromGoose),
  },
]

/** Returns the folders whose settings apply: the current folder, and its parents up to the root of the repository. */
export function projectFolders({ cwd, platform }: Machine): string[] {
  const { dirname, join } = pathsOf(platform)
  const folders: string[] = []
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(folder)
    if (existsSync(join(folder, '.git'))) return folders
    // Outside of a repository, the parent folders may belong to other users.
    if (dirname(folder) === folder) return [cwd]
  }
}

/** Returns the path functions of a platform. In tests, it may differ from the platform of this process. */
export function pathsOf(platform: NodeJS.Platform): typeof posix {
  return platform === 'win32' ? win32 : posix
}

function configFolder({ platform, env, home }: Machine): string {
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support')
  if (platform === 'win32') return env.APPDATA ?? win32.join(home, 'AppData', 'Roaming')
  return env.XDG_CONFIG_HOME ?? posix.join(home, '.config')
}

/** Converts an entry of Codex, which uses other names for headers and tokens. */
function fromCodex(entry: Record<string, unknown>): Record<string, unknown> | undefined {
  const { command, args, env, cwd, url, enabled, http_headers, env_http_headers, bearer_token_env_var: token } = entry
  const headers: Record<string, unknown> = { ...membersOf(http_headers) }
  for (const [name, variable] of Object.entries(membersOf(env_http_headers))) headers[name] = `\${${variable}}`
  if (typeof token === 'string') headers.Authorization = `Bearer \${${token}}`
  return pickDefined({ command, args, env, cwd, url, enabled, headers: url && headers })
}

/** Converts an entry of Goose, which uses other names. Returns undefined for extensions that are not MCP servers. */
function fromGoose(entry: Record<string, unknown>): Record<string, unknown> | undefined {
  const { type, cmd, args, envs, uri, headers, enabled } = entry
  if (type === 'stdio') return pickDefined({ command: cmd, args, env: envs, enabled })
  if (type === 'sse' || type === 'streamable_http') return pickDefined({ url: uri, headers, enabled })
  return undefined
}

function mapMembers(
  value: unknown,
  convert: (entry: Record<string, unknown>) => Record<string, unknown> | undefined,
): Record<string, unknown> {
  const entries = Object.entries(membersOf(value)).map(([name, entry]) => [name, convert(membersOf(entry))])
  return Object.fromEntries(entries.filter(([, entry]) => entry !== undefined))
}

function membersOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {}
}

function pickDefined(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null))
}
