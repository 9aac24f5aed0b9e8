import { spawn as start } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, describe, expect, it } from 'vitest'
import { childArgs } from './child.fixture.ts'
import { lives, until } from './processes.fixture.ts'
import { ask, folder, leftOver, node, open, openCommand, quick } from './servers.fixture.ts'

afterAll(() => {
  expect(leftOver(), 'processes that are left').toEqual([])
})

describe('closing a connection', () => {
  it('ends a server that ignores the end of its input by SIGTERM [C-033]', async () => {
    const connection = await open('deaf', { shutdown: quick })
    const pid = (await ask(connection, 'pid')) as number
    const started = performance.now()
    await connection.close()
    expect(performance.now() - started).toBeGreaterThan(140)
    expect(lives(pid)).toBe(false)
  })

  it('ends a server that ignores SIGTERM too by SIGKILL [C-033]', async () => {
    const connection = await open('stubborn', { shutdown: quick })
    const pid = (await ask(connection, 'pid')) as number
    const started = performance.now()
    await connection.close()
    expect(performance.now() - started).toBeGreaterThan(290)
    expect(performance.now() - started).toBeLessThan(2_000)
    expect(lives(pid)).toBe(false)
  })

  it('ends a server that ignores everything below a shell or another process', async () => {
    const line = [node, ...childArgs, 'stubborn'].map((word) => `'${word}'`).join(' ')
    const commands: [string, string[]][] = [
      ['sh', ['-c', `${line}; true`]],
      ['sh', ['-c', line]],
      [node, [...childArgs, 'parent']],
    ]
    for (const [command, args] of commands) {
      const connection = await openCommand(command, args, { shutdown: quick })
      const pid = (await ask(connection, 'pid')) as number
      expect(lives(pid)).toBe(true)
      await connection.close()
      expect(lives(pid)).toBe(false)
    }
  })

  it('happens when the process exits, and ends the processes that it left', async () => {
    const line = [node, ...childArgs, 'stubborn'].map((word) => `'${word}'`).join(' ')
    const connection = await openCommand('sh', ['-c', `${line}; true`], { shutdown: quick })
    const pid = (await ask(connection, 'pid')) as number
    process.kill((await ask(connection, 'ppid')) as number, 'SIGKILL')
    expect(await connection.closed).toMatchObject({ reason: 'exited', cause: { signal: 'SIGKILL' } })
    await until(() => !lives(pid))
    await connection.close()
  })

  it('does not wait for a server that never reads or that never stops writing', async () => {
    for (const mode of ['blind', 'flood']) {
      const connection = await open(mode, { shutdown: quick })
      for (let n = 0; n < 200; n++) void connection.notify('n', { text: 'x'.repeat(10_000) })
      const started = performance.now()
      await connection.close()
      expect(performance.now() - started).toBeLessThan(2_500)
    }
  })

  it('works for several connections at once', async () => {
    const connections = await Promise.all(Array.from({ length: 4 }, () => open('stubborn', { shutdown: quick })))
    await Promise.all(connections.map((connection) => connection.request('pid')))
    await Promise.all(connections.map((connection) => connection.close()))
  })
})

describe('a client process', () => {
  it('leaves no server behind when it exits without closing', async () => {
    const script = `
      import { spawn } from ${JSON.stringify(new URL('./spawn.ts', import.meta.url).href)}
      const connector = spawn(process.execPath, ${JSON.stringify([...childArgs, 'deaf'])}, { stderr: 'ignore', env: { MARK: ${JSON.stringify(folder)} } })
      const connection = await connector.connect({ responder: { respond() {} }, onWarning() {} })
      console.log((await connection.request('pid')).value)
      process.exit(0)`
    const child = start(node, [
      '--conditions=source',
      '--disable-warning=ExperimentalWarning',
      '--input-type=module-typescript',
      '-e',
      script,
    ])
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    await once(child, 'close')
    expect(Number(output)).toBeGreaterThan(0)
    await until(() => !lives(Number(output)))
  })
})
