/** The commands of mcpx. Each command is loaded when it is used. */

import type { Command } from 'commander'
import type { ExitCode } from '../output/errors.ts'
import type { Output } from '../output/output.ts'
import type { Terminal } from '../output/terminal.ts'

/** The facts and tools that a running command needs. */
export interface CommandContext {
  readonly terminal: Terminal
  readonly output: Output
  /** All commands. */
  readonly commands: readonly CommandEntry[]
  /** The words after `--`: the command that starts a server. */
  readonly serverCommand: readonly string[] | undefined
  /** The exit code of the process if the command does not throw. Default: 0. */
  exitCode: ExitCode
}

/** A module of this folder. */
export interface CommandModule {
  /** Adds the arguments, the options and the action to the command. */
  define(command: Command, context: CommandContext): void
}

/** A row of the help. */
export interface CommandEntry {
  readonly name: string
  /** The description of the command in the help: one line in lower case, without a full stop. */
  readonly summary: string
  /** Leaves the command out of the help. Default: false. */
  readonly hidden?: boolean
  /** Loads the module. */
  readonly load: () => Promise<CommandModule>
}

/** All commands, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  { name: 'call', summary: 'call a tool', load: () => import('./call.ts') },
  {
    name: 'list',
    summary: 'list the tools, resources and prompts of a server, or the servers in the settings of hosts',
    load: () => import('./list.ts'),
  },
  { name: 'read', summary: 'read a resource', load: () => import('./read.ts') },
  { name: 'prompt', summary: 'get a prompt', load: () => import('./prompt.ts') },
  { name: 'subscribe', summary: 'print changes of lists and resources', load: () => import('./subscribe.ts') },
  { name: 'ping', summary: 'connect, and measure the time of a response', load: () => import('./ping.ts') },
  { name: 'shell', summary: 'make many calls on one connection', load: () => import('./shell.ts') },
  {
    name: 'inspect',
    summary: 'show a server in the browser: call its tools, and watch the messages',
    load: () => import('./inspect.ts'),
  },
  { name: 'types', summary: 'write the types of a server for connect<Server>()', load: () => import('./types.ts') },
  {
    name: 'lock',
    summary: 'write the definitions of a server to a file, or compare the server with it',
    load: () => import('./lock.ts'),
  },
  { name: 'doctor', summary: 'explain why clients cannot use a server', load: () => import('./doctor.ts') },
  {
    name: 'install',
    summary: 'write a server into the settings of a host',
    load: () => import('./install.ts'),
  },
  {
    name: 'openapi',
    summary: 'write a server whose tools call operations of an HTTP API',
    load: () => import('./openapi.ts'),
  },
  {
    name: 'export',
    summary: 'describe a server for the MCP Registry, or pack it into a bundle',
    load: () => import('./export.ts'),
  },
  { name: 'run', summary: 'serve the server that a file exports', load: () => import('./run.ts') },
  {
    name: 'dev',
    summary: 'serve the server that a file exports, and restart it on each save',
    load: () => import('./dev.ts'),
  },
  { name: 'login', summary: 'log in at a server', load: () => import('./login.ts') },
  { name: 'logout', summary: 'delete the tokens of a server', load: () => import('./logout.ts') },
  { name: 'completion', summary: 'print the completion script of a shell', load: () => import('./completion.ts') },
  { name: 'complete', summary: 'complete words', hidden: true, load: () => import('./complete.ts') },
]
