import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ConnectionError } from '@mcpx/protocol'
import { catchError, delay } from '@mcpx/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { childArgs } from './child.fixture.ts'
import { lives, until } from './processes.fixture.ts'
import type { ServerExitError } from './server-exit.ts'
import { ask, folder, leftOver, node, open, openCommand, quick, reports, silent } from './servers.fixture.ts'
import { spawn } from './spawn.ts'

afterAll(() => {
  expect(leftOver(), 'processes that are left').toEqual([])
})

describe('a started server', () => {
  it('answers many concurrent calls, and has exited when the connection is closed', async () => {
    const connection = await open('serve')
    const pid = (await ask(connection, 'pid')) as number
    const calls = Array.from({ length: 500 }, (_, n) => ask(connection, 'echo', { n }))
    expect(await Promise.all(calls)).toEqual(calls.map((_, n) => ({ n })))
    await connection.close()
    expect(lives(pid)).toBe(false)
    expect(await connection.closed).toBeUndefined()
  })

  it('receives the given variables and those that any program needs, and no others [C-160]', async () => {
    process.env.SECRET_TOKEN = 'x'
    const connection = await open('serve', { env: { GIVEN: '1', HOME: undefined } })
    const env = (await ask(connection, 'env')) as Record<string, string>
    expect(env).toMatchObject({ GIVEN: '1', PATH: process.env.PATH })
    expect(env).not.toHaveProperty('SECRET_TOKEN')
    expect(env).not.toHaveProperty('HOME')
    await connection.close()
    const all = await open('serve', { env: process.env })
    expect(await ask(all, 'env')).toHaveProperty('SECRET_TOKEN', 'x')
    await all.close()
    delete process.env.SECRET_TOKEN
  })

  it('starts in the given folder', async () => {
    for (const cwd of [folder, new URL(`file://${folder}`)]) {
      const connection = await open('serve', { cwd })
      expect(await ask(connection, 'cwd')).toBe(folder)
      await connection.close()
    }
  })

  it('has its standard error forwarded unchanged to a callback or a file [C-035]', async () => {
    const heard: string[] = []
    const connection = await open('serve', { stderr: (text) => void heard.push(text) })
    await connection.request('shout', { text: 'é {"jsonrpc":"2.0"}\nunfinished' })
    await until(() => heard.join('') === 'é {"jsonrpc":"2.0"}\nunfinished')
    await connection.close()
    const file = join(folder, 'server.log')
    for (const text of ['one\n', 'two\n']) {
      const other = await open('serve', { stderr: { file } })
      await other.request('shout', { text })
      await other.close()
    }
    await until(() => readFileSync(file, 'utf8') === 'one\ntwo\n')
  })

  it('is unreachable, with a remedy in the hint, when it cannot be started', async () => {
    const missing = (await catchError(() => openCommand('no-such-command', []))) as ConnectionError
    expect(missing).toMatchObject({ name: 'ConnectionError', reason: 'unreachable', cause: { code: 'ENOENT' } })
    expect(missing.message).toContain('"no-such-command"')
    expect(missing.hint).toContain('PATH')
    const joined = (await catchError(() => openCommand('node server.mjs', []))) as ConnectionError
    expect(joined.hint).toContain('spawn("node", ["server.mjs"])')
    expect(await catchError(() => openCommand(folder, []))).toMatchObject({ reason: 'unreachable' })
    expect(await catchError(() => open('serve', { cwd: join(folder, 'none') }))).toMatchObject({
      reason: 'unreachable',
    })
  })

  it('is named by its whole command line [C-036]', () => {
    expect(spawn('node', ['a.js', '--title', 'two words', '']).peer).toBe('node a.js --title "two words" ""')
    expect(spawn('x', [], { probeTimeout: 7 }).probeTimeout).toBe(7)
  })
})

describe('a server that exits', () => {
  it('rejects pending requests with its exit code and its last stderr output', async () => {
    const connection = await open('serve')
    await connection.request('shout', { text: `${'x'.repeat(20_000)}\nlast but one\nlast words\n` })
    const waiting = [1, 2].map(() => catchError(() => connection.request('never')))
    const exit = (await catchError(() => connection.request('exit', { code: 3 }))) as ConnectionError
    for (const error of [exit, ...(await Promise.all(waiting))]) {
      expect(error).toMatchObject({ name: 'ConnectionError', reason: 'exited' })
    }
    expect(exit.message).toMatch(/exited with code 3\. Last stderr output:\nx+\nlast but one\nlast words$/)
    expect(exit.message.length).toBeLessThan(10_000)
    const cause = exit.cause as ServerExitError
    expect(cause).toMatchObject({ name: 'ServerExitError', exitCode: 3, signal: null })
    expect(cause.stderr.slice(-2)).toEqual(['last but one', 'last words'])
    expect(exit.hint).toContain('`env`')
    expect(await connection.closed).toMatchObject({ reason: 'exited' })
    expect(await catchError(() => connection.request('echo'))).toMatchObject({ reason: 'exited' })
  })

  it('resolves `closed` before pending requests are rejected', async () => {
    const connection = await open('serve')
    let isClosed = false
    void connection.closed.then(() => {
      isClosed = true
    })
    await catchError(() => connection.request('exit', { code: 0 }))
    expect(isClosed).toBe(true)
    await connection.close()
  })

  it('rejects with the signal that ended it', async () => {
    const connection = await open('serve')
    expect(await catchError(() => connection.request('kill'))).toMatchObject({
      reason: 'exited',
      cause: { exitCode: null, signal: 'SIGKILL', stderr: [] },
    })
    await connection.close()
  })

  it('at its first message can be restarted [C-034]', async () => {
    const connector = spawn(node, [...childArgs, 'fragile'], { stderr: 'ignore', env: { MARK: folder } })
    for (let round = 0; round < 2; round++) {
      const connection = await connector.connect({ responder: silent, onWarning: () => {} })
      expect(await catchError(() => connection.request('server/discover'))).toMatchObject({
        reason: 'exited',
        cause: { exitCode: 3, stderr: ['unexpected message', 'bye'] },
      })
      await connection.close()
    }
  })

  it('repeatedly is restarted after a delay', async () => {
    const restart = { delay: 500 }
    const connector = spawn(node, [...childArgs, 'fragile'], { stderr: 'ignore', restart, env: { MARK: folder } })
    const waits: number[] = []
    for (let round = 0; round < 3; round++) {
      const asked = performance.now()
      const connection = await connector.connect({ responder: silent, onWarning: () => {} })
      waits.push(performance.now() - asked)
      await catchError(() => connection.request('m'))
      await connection.close()
    }
    expect(waits[1]).toBeLessThan(450)
    expect(waits[2]).toBeGreaterThan(450)
  })
})

describe('the output of a server', () => {
  it('that is not a message is reported, and the server receives no error', async () => {
    reports.length = 0
    const connection = await open('chatty')
    expect(await ask(connection, 'echo', { a: 1 })).toEqual({ a: 1 })
    expect(reports.map((problem) => problem.message)).toEqual([
      'The server wrote a line that is not a message: "Listening"',
      'The server wrote a line that is not a message: "{\\"not\\":\\"a message\\"}"',
    ])
    await connection.close()
  })

  it('that is a response above the limit rejects its request', async () => {
    const connection = await open('serve', { maxLineLength: 1_000 })
    const error = (await catchError(() => connection.request('repeat', { times: 5_000 }))) as ConnectionError
    expect(error).toMatchObject({ reason: 'invalid-message' })
    expect(error.message).toContain('longer than 1000 bytes')
    expect(await ask(connection, 'repeat', { times: 3 })).toBe('xxx')
    await connection.close()
  })

  it('may be large while its input is large', async () => {
    const connection = await open('serve')
    const text = 'x'.repeat(10_000)
    const calls = Array.from({ length: 2_000 }, (_, n) => ask(connection, 'echo', { n, text }))
    const told = connection.request('tell', { times: 5_000 })
    expect(await Promise.all(calls)).toEqual(calls.map((_, n) => ({ n, text })))
    await told
    await connection.close()
  })

  it('that never ends does not keep the connection from closing', async () => {
    const connection = await open('flood', { shutdown: quick })
    await delay(300)
    await connection.close()
  })
})

describe('the arguments of spawn', () => {
  it.each([
    [['node', 'server.mjs'], 'spawn: args: expected an array of strings, got string; write spawn("node", ["first",'],
    [['node', { env: {} }], 'spawn: args: expected an array of strings, got object; write spawn("node", ["first",'],
    [[['node', 'server.mjs']], 'spawn: command: expected string, got array'],
    [['node', ['--port', 3000]], 'spawn: args[1]: expected string, got number'],
    [['node', [], { enviroment: {} }], 'spawn: there is no option "enviroment"; expected one of env, cwd, '],
    [['node', [], { environment: {} }], 'spawn: there is no option "environment"; did you mean "env"?'],
    [['node', [], { stdErr: 'ignore' }], 'spawn: there is no option "stdErr"; did you mean "stderr"?'],
  ])('are checked: %j', (given, message) => {
    const spawnUntyped = spawn as (...given: readonly unknown[]) => unknown
    expect(() => spawnUntyped(...given)).toThrow(TypeError)
    expect(() => spawnUntyped(...given)).toThrow(message)
  })

  it.each([
    ['probeTimeout', (value: number) => ({ probeTimeout: value })],
    ['shutdown.end', (value: number) => ({ shutdown: { end: value } })],
    ['shutdown.terminate', (value: number) => ({ shutdown: { terminate: value } })],
    ['shutdown.kill', (value: number) => ({ shutdown: { kill: value } })],
    ['restart.delay', (value: number) => ({ restart: { delay: value } })],
    ['restart.maxDelay', (value: number) => ({ restart: { maxDelay: value } })],
    ['restart.healthyAfter', (value: number) => ({ restart: { healthyAfter: value } })],
    ['maxLineLength', (value: number) => ({ maxLineLength: value })],
    ['maxUnsent', (value: number) => ({ maxUnsent: value })],
  ])('are checked for numbers out of range: %s', (name, optionsWith) => {
    for (const value of [Number.NaN, -1, '5' as unknown as number]) {
      const message = `spawn: ${name}: expected a number from 0, got ${value}`
      expect(() => spawn('node', [], optionsWith(value))).toThrow(new RangeError(message))
    }
    for (const value of [0, Number.POSITIVE_INFINITY, undefined as unknown as number]) {
      expect(() => spawn('node', [], optionsWith(value))).not.toThrow()
    }
  })
})
