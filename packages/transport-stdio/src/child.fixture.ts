/** The processes that tests start: `node --conditions=source child.fixture.ts <mode>`. */

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import {
  type Exchange,
  errorMessage,
  type JsonObject,
  methodNotFound,
  type Responder,
  resultMessage,
} from '@mcpx/protocol'
import { serveStdio } from './serve.ts'

export const childArgs: readonly string[] = [
  '--conditions=source',
  '--disable-warning=ExperimentalWarning',
  fileURLToPath(import.meta.url),
]

/** Caches the compiled sources: a process with the cache starts three times as fast. */
export const compileCache: Readonly<Record<string, string>> = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url)),
}

const say = globalThis.console

type Answer = (params: JsonObject, exchange: Exchange) => unknown

const answers: Record<string, Answer> = {
  echo: (params) => params,
  pid: () => process.pid,
  ppid: () => process.ppid,
  env: () => ({ ...process.env }),
  cwd: () => process.cwd(),
  slow: ({ ms }, { signal }) =>
    new Promise((resolve) => {
      const timer = setTimeout(() => resolve('done'), ms as number)
      signal.addEventListener('abort', () => {
        clearTimeout(timer)
        process.stderr.write('aborted\n')
        resolve('aborted')
      })
    }),
  never: () => new Promise(() => {}),
  repeat: ({ times }) => 'x'.repeat(times as number),
  logs: () => {
    say.log('stray log')
    say.info('stray info')
    say.table([{ a: 1 }])
    process.stdout.write('stray write')
    process.stdout.write(Buffer.from('stray bytes\n'), () => {})
    process.stdout.end('stray end\n')
    return 'logged'
  },
  shout: ({ text }) => void process.stderr.write(text as string),
  exit: ({ code }) => process.exit(code as number),
  destroy: () => void process.stdout.destroy(),
  kill: () => process.kill(process.pid, 'SIGKILL'),
  tell: async ({ times }, exchange) => {
    for (let n = 0; n < (times as number); n++) await exchange.notify('notifications/n', { n, text: 'x'.repeat(1_000) })
  },
}

const responder: Responder = {
  async respond(message, exchange) {
    if (!('id' in message)) return undefined
    const answer = answers[message.method]
    if (answer === undefined) return errorMessage(message.id, methodNotFound(message.method))
    return resultMessage(message.id, { value: await answer(message.params ?? {}, exchange) })
  },
}

function ignoreEverything(): void {
  process.on('SIGTERM', () => {})
  process.on('SIGINT', () => {})
  setInterval(() => {}, 1_000)
}

const modes: Record<string, () => unknown> = {
  serve: () => serveStdio(responder),
  async brief() {
    await serveStdio(responder, { drainTimeout: 100, exitTimeout: 100, onWarning: (e) => say.error(e.message) })
    process.stderr.write('ended\n')
  },
  /** A timer keeps the process alive. */
  async busy() {
    setInterval(() => {}, 1_000)
    await serveStdio(responder, { exitTimeout: 50 })
    say.log('after the end')
  },
  limited: () => serveStdio(responder, { maxLineLength: 1_000 }),
  orphan: () => serveStdio(responder, { parentDeath: false }),
  unguarded: () => serveStdio(responder, { guard: false }),
  twice() {
    void serveStdio(responder)
    return serveStdio(responder)
  },
  /** Ignores the end of its input and SIGTERM. */
  async stubborn() {
    ignoreEverything()
    void serveStdio(responder, { exitTimeout: Number.POSITIVE_INFINITY })
  },
  /** Ignores the end of its input. */
  async deaf() {
    process.on('SIGTERM', () => process.exit(0))
    setInterval(() => {}, 1_000)
    void serveStdio(responder, { exitTimeout: Number.POSITIVE_INFINITY })
  },
  /** Starts a stubborn process that inherits the streams. */
  parent() {
    spawn(process.execPath, [...childArgs, 'stubborn'], { stdio: 'inherit' })
    ignoreEverything()
  },
  /** Exits at the first request, as some old servers do. */
  fragile() {
    process.stdin.once('data', () => {
      process.stderr.write('unexpected message\nbye\n')
      process.exit(3)
    })
  },
  /** Writes lines that are not messages. */
  chatty() {
    process.stdout.write('Listening\n{"not":"a message"}\n\n')
    void serveStdio(responder, { guard: false })
  },
  /** Never reads. */
  blind() {
    process.stdin.pause()
    setInterval(() => {}, 1_000)
  },
  flood() {
    const line = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/n', params: { text: 'x'.repeat(1_000) } })}\n`
    const write = () => {
      while (process.stdout.write(line));
      process.stdout.once('drain', write)
    }
    write()
  },
  echo: () => process.stdin.pipe(process.stdout),
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await modes[process.argv[2] ?? 'serve']?.()
