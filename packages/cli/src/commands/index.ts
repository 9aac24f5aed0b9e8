/** The commands of mcpx, each loaded when it is used. */

import type { Command } from 'commander'
import type { ExitCode } from '../output/errors.ts'
import type { Output } from '../output/output.ts'
import type { Terminal } from '../output/terminal.ts'

/** The surroundings of a command that runs. */
export interface CommandContext {
  readonly terminal: Terminal
  readonly output: Output
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
  /** One line in lower case, without a full stop. */
  readonly summary: string
  /** Loads the module. */
  readonly load: () => Promise<CommandModule>
}

/** All commands, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'list',
    summary: 'list the tools, resources and prompts of a server, or the servers in the settings of hosts',
    load: () => import('./list.ts'),
  },
  {
    name: 'lock',
    summary: 'write the definitions of a server to a file, or compare the server with it',
    load: () => import('./lock.ts'),
  },
]
