/** Which environment variables a server gets: what programs need to run, and nothing that may be a secret. */

type Environment = Readonly<Record<string, string | undefined>>

const posixNames = ['HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER']

// biome-ignore format: a list of names reads best as a paragraph
const windowsNames = [
  'ALLUSERSPROFILE', 'APPDATA', 'COMSPEC', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'NUMBER_OF_PROCESSORS', 'OS', 'PATH',
  'PATHEXT', 'PROCESSOR_ARCHITECTURE', 'PROGRAMDATA', 'PROGRAMFILES', 'PROGRAMFILES(X86)', 'PROGRAMW6432', 'SYSTEMDRIVE',
  'SYSTEMROOT', 'TEMP', 'TMP', 'USERDOMAIN', 'USERNAME', 'USERPROFILE', 'WINDIR',
]

/**
 * The variables for a child: the safe ones of `own`, changed by `given`. On Windows, names are the same in any case, and
 * what is given replaces what differs from it in case only.
 */
export function childEnv(given: Environment, own: Environment, platform: string): Record<string, string> {
  const isWindows = platform === 'win32'
  const key = (name: string) => (isWindows ? name.toUpperCase() : name)
  const safe = new Set(isWindows ? windowsNames : posixNames)
  const entries = new Map<string, [name: string, value: string]>()
  for (const [name, value] of Object.entries(own)) {
    // A value like this is a function of the shell, which another shell would run.
    if (value !== undefined && safe.has(key(name)) && !value.startsWith('()')) entries.set(key(name), [name, value])
  }
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) entries.delete(key(name))
    else entries.set(key(name), [name, value])
  }
  return Object.fromEntries(entries.values())
}
