/** How a command is started on Windows: found by PATHEXT, and batch files, which only `cmd.exe` can run, run by it. */

import { win32 } from 'node:path'

export interface CommandLine {
  readonly file: string
  readonly args: readonly string[]
  /** The arguments are quoted already. */
  readonly isVerbatim: boolean
}

export interface WindowsPlace {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly isFile: (path: string) => boolean
}

/** What to start for a command. A command that is not found is left as it is, so that starting it says so. */
export function windowsCommand(command: string, args: readonly string[], place: WindowsPlace): CommandLine {
  const file = find(command, place)
  if (!/\.(?:cmd|bat)$/i.test(file)) return { file, args, isVerbatim: false }
  for (const arg of args) {
    if (/[\r\n\0]/.test(arg))
      throw new TypeError(`A batch file (${file}) cannot be given an argument with a line break`)
  }
  const line = [win32.normalize(file).replace(META, '^$&'), ...args.map(escaped)].join(' ')
  const shell = variable(place.env, 'COMSPEC') ?? 'cmd.exe'
  return { file: shell, args: ['/d', '/s', '/c', `"${line}"`], isVerbatim: true }
}

function find(command: string, { env, cwd, isFile }: WindowsPlace): string {
  const extensions = (variable(env, 'PATHEXT') ?? '.COM;.EXE;.BAT;.CMD').split(';').filter(Boolean)
  const hasExtension = extensions.some((extension) => command.toLowerCase().endsWith(extension.toLowerCase()))
  const names = [
    ...(hasExtension ? [command] : []),
    ...extensions.map((extension) => command + extension.toLowerCase()),
  ]
  // The current folder is not searched: what lies there by chance is not what was meant.
  const folders = /[\\/:]/.test(command) ? [cwd] : (variable(env, 'PATH') ?? '').split(';').filter(Boolean)
  for (const folder of folders) {
    for (const name of names) {
      const path = win32.resolve(folder.replace(/^"|"$/g, ''), name)
      if (isFile(path)) return path
    }
  }
  return command
}

function variable(env: WindowsPlace['env'], wanted: string): string | undefined {
  return Object.entries(env).find(([name]) => name.toUpperCase() === wanted)?.[1]
}

/** What `cmd.exe` takes for more than a character. */
const META = /[()\][%!^"`<>&|;, *?]/g

/**
 * Quotes for the program first, then for `cmd.exe`, and for that twice: a batch file hands its arguments to
 * a second command line, as those that npm makes do.
 */
function escaped(arg: string): string {
  const quoted = `"${arg.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`
  return quoted.replace(META, '^$&').replace(META, '^$&')
}
