/**
 * Selects the environment variables of a server process: variables that programs need, but no variables that may
 * contain secrets.
 */

type Environment = Readonly<Record<string, string | undefined>>

const posixNames = ['HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER']

// biome-ignore format: a list of names reads best as a paragraph
const windowsNames = [
  'ALLUSERSPROFILE', 'APPDATA', 'COMSPEC', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'NUMBER_OF_PROCESSORS', 'OS', 'PATH',
  'PATHEXT', 'PROCESSOR_ARCHITECTURE', 'PROGRAMDATA', 'PROGRAMFILES', 'PROGRAMFILES(X86)', 'PROGRAMW6432', 'SYSTEMDRIVE',
  'SYSTEMROOT', 'TEMP', 'TMP', 'USERDOMAIN', 'USERNAME', 'USERPROFILE', 'WINDIR',
]

/**
 * Returns the variables for a child process: the safe variables of `own`, overridden by `given`. The value `undefined`
 * removes a variable. On Windows, the case of names is ignored.
 */
export function childEnvironment(given: Environment, own: Environment, platform: string): Record<string, string> {
  const isWindows = platform === 'win32'
  const key = (name: string) => (isWindows ? name.toUpperCase() : name)
  const safe = new Set(isWindows ? windowsNames : posixNames)
  const entries = new Map<string, [name: string, value: string]>()
  for (const [name, value] of Object.entries(own)) {
    // A value that begins with `()` is an exported shell function, which another shell would run.
    if (value !== undefined && safe.has(key(name)) && !value.startsWith('()')) entries.set(key(name), [name, value])
  }
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) entries.delete(key(name))
    else entries.set(key(name), [name, value])
  }
  return Object.fromEntries(entries.values())
}
