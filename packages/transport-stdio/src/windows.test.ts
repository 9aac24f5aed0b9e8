import { spawn as start } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { childArgs } from './child.fixture.ts'
import { lives, until } from './processes.fixture.ts'
import { node } from './servers.fixture.ts'

// Nothing here runs on Windows: a process whose `process.platform` is `win32` uses a `taskkill` and a `cmd.exe` of the test.
const tools = mkdtempSync(join(tmpdir(), 'windows-'))
const killed = join(tools, 'killed')
const commandLine = join(tools, 'command-line')
const bin = join(tools, 'node_modules', '.bin')
const spaced = join(tools, 'my tools')
mkdirSync(bin, { recursive: true })
mkdirSync(spaced)
symlinkSync(node, join(tools, 'node.exe'))
for (const file of [join(tools, 'npx.cmd'), join(bin, 'shim.cmd'), join(spaced, 'run.cmd')]) writeFileSync(file, '')
writeScript('taskkill', `echo "$@" >> '${killed}'\nkill -9 "$2"`)
const serve = [node, ...childArgs, 'serve'].map((word) => `'${word}'`).join(' ')
writeScript('cmd.exe', `printf '%s\\n' "$@" > '${commandLine}'\ncase "$4" in *missing*) exit 1;; esac\nexec ${serve}`)
afterAll(() => rmSync(tools, { recursive: true }))

function writeScript(name: string, script: string): void {
  writeFileSync(join(tools, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
}

/** Runs the script in a process that takes its platform for Windows. Returns what it logs. */
async function runOnWindows(script: string, path: string = tools): Promise<string> {
  const preamble = `
    Object.defineProperty(process, 'platform', { value: 'win32' })
    const { spawn } = await import(${JSON.stringify(new URL('./spawn.ts', import.meta.url).href)})
    const silent = { responder: { respond() {} }, onWarning() {} }
    const shutdown = { end: 50, terminate: 1000, kill: 1000 }`
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning', '--input-type=module-typescript']
  const env = { ...process.env, PATH: path, PATHEXT: '.exe;.cmd', comspec: join(tools, 'cmd.exe') }
  const child = start(node, [...flags, '-e', `${preamble}\n${script}`], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  const [code] = await once(child, 'close')
  expect(code).toBe(0)
  return output.trim()
}

/** The command line that `cmd.exe` was started with. */
async function runBatchFile(command: string, args: readonly string[]): Promise<string> {
  const words = [command, args].map((word) => JSON.stringify(word)).join()
  const script = `
    const connection = await spawn(${words}, { stderr: 'ignore' }).connect(silent)
    await connection.request('pid')
    await connection.close()`
  await runOnWindows(script, [tools, spaced].join(';'))
  const [disableAutoRun, stripQuotes, run, line = ''] = readFileSync(commandLine, 'utf8').split('\n')
  expect([disableAutoRun, stripQuotes, run]).toEqual(['/d', '/s', '/c'])
  return line.replace(/^"|"$/g, '')
}

function removeCarets(text: string): string {
  return text.replace(/\^(.)/g, '$1')
}

describe('a batch file on Windows', () => {
  it('is run by cmd.exe, with each argument quoted as one word', async () => {
    const line = await runBatchFile('npx', ['-y', 'a b', '"q"', 'x&calc', '%PATH%', 'end\\'])
    expect(removeCarets(line)).toBe('npx "-y" "a b" "\\"q\\"" "x&calc" "%PATH%" "end\\\\"')
    expect(line.replace(/\^./g, '')).not.toMatch(/[&|<>()%!^"]/)
  })

  it('may have a path with spaces', async () => {
    const line = await runBatchFile(join(spaced, 'run.cmd'), ['x'])
    expect(line).toContain('my^ tools')
    expect(removeCarets(line)).toBe(`${join(spaced, 'run.cmd')} "x"`)
  })

  it('in node_modules/.bin is escaped twice, because it starts a second command line', async () => {
    const line = await runBatchFile(join(bin, 'shim.cmd'), ['x&calc'])
    expect(removeCarets(removeCarets(line.slice(line.indexOf(' ') + 1)))).toBe('"x&calc"')
    expect(removeCarets(line).replace(/\^./g, '')).not.toMatch(/[&"]/)
  })

  it('refuses arguments with line breaks', async () => {
    const output = await runOnWindows(`
      for (const arg of ['a\\nb', 'a\\rb']) {
        const error = await spawn('npx', [arg]).connect(silent).catch((error) => error)
        console.log(error.name, error.message.includes('line break'))
      }`)
    expect(output).toBe('TypeError true\nTypeError true')
  })
})

describe('a command on Windows', () => {
  it('that is an .exe file is started without cmd.exe, and may be given line breaks', async () => {
    rmSync(commandLine, { force: true })
    const output = await runOnWindows(`
      const args = [...${JSON.stringify(childArgs)}, 'serve', 'a\\nb']
      const connection = await spawn(${JSON.stringify(join(tools, 'node.exe'))}, args).connect(silent)
      console.log((await connection.request('echo', { a: 1 })).value.a)
      await connection.close()`)
    expect(output).toBe('1')
    expect(() => readFileSync(commandLine)).toThrow('ENOENT')
  })

  it('that does not exist is unreachable', async () => {
    const output = await runOnWindows(`
      const connection = await spawn('missing', [], { stderr: 'ignore' }).connect(silent)
      const error = await connection.request('pid').catch((error) => error)
      console.log(error.reason, error.cause.code, error.message)
      await connection.close()`)
    expect(output).toBe('unreachable ENOENT The server "missing" could not be started: ENOENT')
  })
})

it.each([
  ['closing', 'await connection.close()'],
  ['exiting without closing', 'process.exit(0)'],
])('ends a server and its child processes with taskkill on Windows, when %s [C-033]', async (_, then) => {
  const output = await runOnWindows(`
    const options = { stderr: 'ignore', shutdown }
    const connector = spawn(${JSON.stringify(join(tools, 'node.exe'))}, ${JSON.stringify([...childArgs, 'deaf'])}, options)
    const connection = await connector.connect(silent)
    console.log((await connection.request('pid')).value)
    ${then}`)
  const pid = Number(output)
  expect(pid).toBeGreaterThan(0)
  await until(() => !lives(pid))
  expect(readFileSync(killed, 'utf8').trim().split('\n').at(-1)).toBe(`/pid ${pid} /T /F`)
})
