import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, connect as dial } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Message, type Responder, resultMessage } from '@mcpx/protocol'
import { delay } from '@mcpx/testing'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { childArgs } from './child.fixture.ts'
import { endBare, lives, startBare, startBareCommand, until } from './processes.fixture.ts'
import { serveStdio } from './serve.ts'

afterAll(endBare)

describe('a program that serves', () => {
  it('responds, finishes running calls when its input ends, and exits with 0 [S-102]', async () => {
    const { child, ask, exit, messages } = startBare('serve')
    ask(1, 'slow', { ms: 150 })
    ask(2, 'echo', { a: 1 })
    child.stdin.end()
    expect(await exit).toEqual({ code: 0, signal: null })
    expect(messages()).toEqual([
      { jsonrpc: '2.0', id: 2, result: { value: { a: 1 } } },
      { jsonrpc: '2.0', id: 1, result: { value: 'done' } },
    ])
  })

  it('aborts calls that do not finish in time, and runs its last lines', async () => {
    const bare = startBare('brief')
    bare.ask(1, 'slow', { ms: 60_000 })
    bare.ask(2, 'echo')
    await bare.wrote(1)
    bare.child.stdin.end()
    expect(await bare.exit).toEqual({ code: 0, signal: null })
    expect(bare.stderr).toBe('aborted\nended\n')
    expect(bare.messages()).toHaveLength(1)
  })

  it.each(['serve', 'unguarded', 'busy'])(
    'ends and says why when its code destroys standard output: %s',
    async (mode) => {
      const bare = startBare(mode)
      bare.ask(1, 'echo')
      await bare.wrote(1)
      bare.ask(2, 'destroy')
      expect(await bare.exit).toEqual({ code: 1, signal: null })
      expect(bare.stderr).toContain(
        '[mcpx] Standard output was destroyed. The server cannot send responses any more, and stops. at ',
      )
      expect(bare.stderr).toMatch(/child\.fixture\.ts:\d+/)
    },
  )

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`finishes running calls at ${signal}, refuses new ones, and exits with 0`, async () => {
      const bare = startBare('serve')
      bare.ask(1, 'slow', { ms: 300 })
      bare.ask(2, 'echo')
      await bare.wrote(1)
      bare.child.kill(signal)
      await delay(50)
      bare.ask(3, 'echo')
      expect(await bare.exit).toEqual({ code: 0, signal: null })
      expect(bare.messages().slice(1)).toMatchObject([
        { id: 3, error: { code: -32603 } },
        { id: 1, result: { value: 'done' } },
      ])
    })
  }

  it('aborts running calls at the second signal, and at a signal after the end of its input', async () => {
    for (const first of ['SIGTERM', 'end'] as const) {
      const bare = startBare('serve')
      bare.ask(1, 'slow', { ms: 60_000 })
      bare.ask(2, 'echo')
      await bare.wrote(1)
      if (first === 'end') bare.child.stdin.end()
      else bare.child.kill(first)
      await delay(50)
      const started = performance.now()
      bare.child.kill('SIGTERM')
      expect(await bare.exit).toEqual({ code: 0, signal: null })
      expect(performance.now() - started).toBeLessThan(2_000)
      expect(bare.stderr).toContain('aborted')
    }
  })

  it('exits although a timer keeps the process alive', async () => {
    const bare = startBare('busy')
    bare.ask(1, 'never')
    bare.ask(2, 'echo')
    await bare.wrote(1)
    bare.child.kill('SIGTERM')
    await delay(20)
    bare.child.kill('SIGTERM')
    expect(await bare.exit).toEqual({ code: 0, signal: null })
    expect(bare.messages()).toHaveLength(1)
    expect(bare.stderr).toContain('after the end')
  })

  it('ends when its code ends standard output without the guard', async () => {
    const bare = startBare('unguarded')
    bare.ask(1, 'logs')
    expect(await bare.exit).toEqual({ code: 0, signal: null })
  })

  it('ends when its output is closed', async () => {
    const bare = startBare('serve')
    bare.ask(1, 'echo')
    await bare.wrote(1)
    bare.child.stdout.destroy()
    bare.ask(2, 'echo')
    expect((await bare.exit).code).toBe(0)
  })

  it('redirects everything that is logged to standard error and names the first writer once [S-100, S-104]', async () => {
    const bare = startBare('serve')
    bare.ask(1, 'logs')
    bare.ask(2, 'logs')
    bare.child.stdin.end()
    expect((await bare.exit).code).toBe(0)
    expect(bare.messages().map(({ id }) => id)).toEqual([1, 2])
    for (const what of ['log', 'info', 'write', 'bytes', 'end']) expect(bare.stderr).toContain(`stray ${what}`)
    expect(bare.stderr).toContain('(index)')
    const said = bare.stderr.split('\n').filter((line) => line.startsWith('[mcpx]'))
    expect(said).toHaveLength(1)
    expect(said[0]).toMatch(/child\.fixture\.ts:\d+/)
  })

  it('does not change standard output with `guard: false`', async () => {
    const bare = startBare('unguarded')
    bare.ask(1, 'echo')
    await bare.wrote(1)
    bare.ask(2, 'logs')
    await until(() => bare.stdout.includes('stray log'))
    bare.child.kill('SIGKILL')
    expect(bare.stderr).toBe('')
  })

  it('cannot serve twice on one standard output', async () => {
    const bare = startBare('twice')
    expect((await bare.exit).code).toBe(1)
    expect(bare.stderr).toContain('Standard output is already in use')
  })

  it('refuses lines above the limit with an error that names it, and reads the next ones', async () => {
    const bare = startBare('limited')
    bare.ask(1, 'echo', { text: 'x'.repeat(2_000) })
    bare.child.stdin.write('x'.repeat(500_000))
    bare.child.stdin.write('x\n')
    bare.ask(2, 'echo')
    await until(() => bare.messages().length === 3)
    expect(bare.messages()).toMatchObject([{ id: 1, error: { code: -32600 } }, { error: { code: -32600 } }, { id: 2 }])
    expect(bare.stdout).toContain('longer than 1000 bytes')
    bare.child.stdin.end()
    await bare.exit
  })

  it('echoes 10 MB', async () => {
    const bare = startBare('serve')
    const text = 'é'.repeat(5_000_000)
    bare.ask(1, 'echo', { text })
    bare.child.stdin.end()
    expect((await bare.exit).code).toBe(0)
    expect((bare.messages()[0] as { result: { value: { text: string } } }).result.value.text === text).toBe(true)
  })

  it('needs bounded memory for a peer that sends requests and never reads', async () => {
    const bare = startBare('serve')
    bare.child.stdout.pause()
    bare.ask(0, 'echo')
    let [id, isFull] = [0, false]
    const deadline = performance.now() + 1_500
    while (performance.now() < deadline) {
      while (!isFull && id < 5_000) {
        id += 1
        isFull = !bare.child.stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"repeat","params":{"times":1000000}}\n`)
        if (isFull) bare.child.stdin.once('drain', () => (isFull = false))
      }
      await delay(20)
    }
    expect(lives(bare.child.pid as number)).toBe(true)
    expect(residentMegabytes(bare.child.pid as number)).toBeLessThan(400)
    bare.child.kill('SIGKILL')
    await bare.exit
  })
})

describe('the guard as the first import', () => {
  const guardedArgs = [...childArgs.slice(0, -1), fileURLToPath(new URL('guarded.fixture.ts', import.meta.url))]

  it('redirects what other modules log while they are imported [S-100]', async () => {
    const bare = startBareCommand(process.execPath, guardedArgs)
    bare.ask(1, 'logs')
    bare.child.stdin.end()
    expect((await bare.exit).code).toBe(0)
    expect(bare.messages()).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
    for (const what of ['log', 'write', 'log of a call']) expect(bare.stderr).toContain(`stray ${what}`)
    const warnings = bare.stderr.split('\n').filter((line) => line.startsWith('[mcpx]'))
    expect(warnings).toEqual([expect.stringMatching(/noisy\.fixture\.ts:\d+/)])
  })

  it('leaves standard output to `serveStdio` with `guard: false`', async () => {
    const bare = startBareCommand(process.execPath, [...guardedArgs, 'unguarded'])
    bare.ask(1, 'logs')
    await until(() => bare.stdout.includes('stray log of a call') && bare.stdout.includes('"result"'))
    expect(bare.stdout).not.toContain('stray write')
    bare.child.kill('SIGKILL')
  })
})

describe('a server whose parent has exited while its input is still open', () => {
  /** A shell starts the server, and a `sleep` that keeps the input of the server open. */
  async function startBelowShell(mode: string, requests: readonly object[] = []) {
    const folder = mkdtempSync(join(tmpdir(), 'parent-'))
    const pipe = join(folder, 'input')
    execFileSync('mkfifo', [pipe])
    const server = [process.execPath, ...childArgs, mode].map((word) => `'${word}'`).join(' ')
    const bare = startBareCommand('sh', ['-c', `sleep 60 > ${pipe} & echo $! >&2; ${server} < ${pipe}; true`])
    const lines = [{ method: 'pid' }, ...requests].map((request, id) =>
      JSON.stringify({ jsonrpc: '2.0', id, ...request }),
    )
    await writeFile(pipe, `${lines.join('\n')}\n`)
    await bare.wrote(1)
    const pid = (bare.messages()[0] as { result: { value: number } }).result.value
    const holder = Number(bare.stderr.split('\n')[0])
    onTestFinished(() => {
      rmSync(folder, { recursive: true })
      for (const each of [pid, holder]) if (lives(each)) process.kill(each, 'SIGKILL')
    })
    return { bare, pid, holder }
  }

  it('finishes running calls and exits', async () => {
    const { bare, pid, holder } = await startBelowShell('serve', [{ method: 'slow', params: { ms: 2_500 } }])
    bare.child.kill('SIGKILL')
    await until(() => !lives(pid))
    expect(lives(holder)).toBe(true)
    expect(bare.messages().at(-1)).toMatchObject({ id: 1, result: { value: 'done' } })
  }, 10_000)

  it('reports the reason', async () => {
    const { bare, pid, holder } = await startBelowShell('brief')
    bare.child.kill('SIGKILL')
    await until(() => !lives(pid))
    const report = 'The process that started this server has exited (parentDeath)'
    expect(bare.stderr).toBe(`${holder}\n${report}\nended\n`)
  }, 10_000)

  it('keeps serving with `parentDeath: false`', async () => {
    const { bare, pid } = await startBelowShell('orphan')
    bare.child.kill('SIGKILL')
    await delay(2_500)
    expect(lives(pid)).toBe(true)
  }, 10_000)
})

function residentMegabytes(pid: number): number {
  const { readFileSync } = process.getBuiltinModule('node:fs')
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_000
}

describe('serving on other streams', () => {
  it('ends each socket with its peer, and leaves signals and standard output alone [S-103]', async () => {
    const { write } = process.stdout
    const signals = process.listenerCount('SIGTERM')
    const responder = { respond: (message: Message) => resultMessage((message as { id: number }).id, {}) }
    const ended: Promise<void>[] = []
    const server = createServer((socket) => {
      const serving = serveStdio(responder, { input: socket, output: socket })
      ended.push(serving)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const sockets = [1, 2].map(() => dial((server.address() as AddressInfo).port, '127.0.0.1'))
    for (const socket of sockets) {
      socket.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
      const [chunk] = await once(socket, 'data')
      expect(JSON.parse(String(chunk))).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    }
    expect(process.stdout.write).toBe(write)
    expect(process.listenerCount('SIGTERM')).toBe(signals)
    for (const socket of sockets) socket.end()
    await Promise.all(ended)
    server.close()
  })

  it('ends when its signal is aborted, and when it is closed', async () => {
    for (const how of ['signal', 'close'] as const) {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      const near = dial((server.address() as AddressInfo).port, '127.0.0.1')
      const [far] = await once(server, 'connection')
      const ended = once(near.resume(), 'end')
      const controller = new AbortController()
      const serving = serveStdio({ respond: () => undefined }, { input: far, output: far, signal: controller.signal })
      if (how === 'signal') controller.abort()
      else void serving.close()
      await serving
      expect(await serving.closed).toBeUndefined()
      await ended
      near.destroy()
      server.close()
    }
  })
})

describe('the arguments of serveStdio', () => {
  it('are checked before anything is served', () => {
    const server: Responder = { respond: () => undefined }
    expect(() => serveStdio(server, { drainTimeuot: 3 } as object)).toThrow(
      'serveStdio: there is no option "drainTimeuot"; did you mean "drainTimeout"?',
    )
    expect(() => serveStdio({} as Responder)).toThrow(
      'serveStdio: expected a server, such as the result of createServer(), got object',
    )
    expect(() => serveStdio(undefined as never)).toThrow('got nothing')
    for (const name of ['drainTimeout', 'exitTimeout', 'flushTimeout']) {
      const expected = `serveStdio: ${name}: expected a number from 0, got NaN`
      expect(() => serveStdio(server, { [name]: Number.NaN })).toThrow(expected)
    }
  })
})
