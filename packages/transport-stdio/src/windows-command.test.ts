import { describe, expect, it } from 'vitest'
import { windowsCommand } from './windows-command.ts'

const files = new Set([
  'c:\\tools\\npx.cmd',
  'c:\\tools\\node.exe',
  'c:\\my tools\\run.bat',
  'c:\\here\\local.exe',
  'c:\\here\\x.cmd',
])

function resolve(command: string, args: string[] = [], env: Record<string, string> = {}) {
  return windowsCommand(command, args, {
    env: { Path: 'c:\\none;"C:\\my tools";C:\\Tools', PATHEXT: '.COM;.EXE;.BAT;.CMD', ...env },
    cwd: 'C:\\here',
    isFile: (path) => files.has(path.toLowerCase()),
  })
}

describe('a command on Windows', () => {
  it('is found in PATH with the extensions of PATHEXT', () => {
    expect(resolve('node', ['a b'])).toEqual({ file: 'C:\\Tools\\node.exe', args: ['a b'], isVerbatim: false })
    expect(resolve('NODE.EXE').file).toBe('C:\\Tools\\NODE.EXE')
  })

  it('is looked for in the current folder only if it says so', () => {
    expect(resolve('local').file).toBe('local')
    expect(resolve('.\\local').file).toBe('C:\\here\\local.exe')
    expect(resolve('c:\\here\\local').file).toBe('c:\\here\\local.exe')
  })

  it('that is not found is left as it is', () => {
    expect(resolve('nothing', ['x'])).toEqual({ file: 'nothing', args: ['x'], isVerbatim: false })
  })

  it('that is a batch file is run by cmd.exe, each argument a word and nothing more', () => {
    const { file, args, isVerbatim } = resolve('npx', ['-y', 'a b', '"q"', 'x&calc', '%PATH%', 'end\\'])
    expect(file).toBe('cmd.exe')
    expect(isVerbatim).toBe(true)
    expect(args.slice(0, 3)).toEqual(['/d', '/s', '/c'])
    const line = (args[3] ?? '').slice(1, -1)
    expect(line.startsWith('C:\\Tools\\npx.cmd ')).toBe(true)
    // Read twice by `cmd.exe`, what is left is what the program takes apart.
    const once = line.slice('C:\\Tools\\npx.cmd '.length).replace(/\^(.)/g, '$1')
    expect(once.replace(/\^(.)/g, '$1')).toBe('"-y" "a b" "\\"q\\"" "x&calc" "%PATH%" "end\\\\"')
    // No mark that means something to it stands bare.
    expect(once.replace(/\^./g, '')).not.toMatch(/[&|<>()%!^"]/)
  })

  it('may have a path with spaces, and another COMSPEC', () => {
    const { file, args } = resolve('run', [], { ComSpec: 'C:\\Windows\\cmd.exe' })
    expect(file).toBe('C:\\Windows\\cmd.exe')
    expect(args[3]).toBe('"C:\\my^ tools\\run.bat"')
  })

  it('that is a batch file takes no line breaks', () => {
    for (const arg of ['a\nb', 'a\rb', 'a\0b']) expect(() => resolve('npx', [arg])).toThrow('line break')
  })
})
