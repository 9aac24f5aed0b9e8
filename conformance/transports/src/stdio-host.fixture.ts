/** Misbehaving stdio servers: `node … stdio-host.fixture.ts <behaviour>`. */

import { spawn } from 'node:child_process'
import { appendFileSync, closeSync } from 'node:fs'
import process from 'node:process'
import { createServer } from '@mcpx/server'
import { serveStdio } from '@mcpx/transport-stdio'
import { createHost } from './host.fixture.ts'
import { fromSource } from './hosts.fixture.ts'

const self = [...fromSource, import.meta.filename]

function serve(): void {
  const { server } = createHost()
  server
    .tool('exit', {}, () => {
      process.stderr.write('first words\nlast words\n')
      process.exit(7)
    })
    .tool('kill', {}, () => process.kill(process.pid, 'SIGKILL') && 'killed')
    .tool('mute', {}, () => {
      // Closes stdout and keeps running.
      closeSync(1)
      setInterval(() => {}, 1_000)
      return new Promise<string>(() => {})
    })
  void serveStdio(server)
}

/** Ignores SIGTERM, SIGINT and the end of the input. */
function ignoreEverything(): void {
  process.on('SIGTERM', () => {})
  process.on('SIGINT', () => {})
  setInterval(() => {}, 1_000)
}

const behaviours: Record<string, () => unknown> = {
  serve,
  stubborn() {
    ignoreEverything()
    const { server } = createHost()
    void serveStdio(server, { exitTimeout: Number.POSITIVE_INFINITY })
  },
  /** Starts the server and waits for it, like a package runner. */
  runner() {
    ignoreEverything()
    spawn(process.execPath, [...self, 'stubborn'], { stdio: 'inherit' })
  },
  /** Starts the server in a shell and waits for it, like some package runners. */
  nested() {
    ignoreEverything()
    const line = [process.execPath, ...self, 'stubborn'].map((word) => `'${word}'`).join(' ')
    spawn('sh', ['-c', `${line}; true`], { stdio: 'inherit' })
  },
  /** Crashes at its start. */
  crash() {
    process.stderr.write('cannot find its configuration\n')
    process.exit(3)
  },
  /** A legacy server that exits on unknown requests. */
  fragile: () => runLegacyServer('exit'),
  /** A legacy server that ignores unknown requests. */
  silent: () => runLegacyServer('silence'),
  /** Writes invalid lines before and between its messages. */
  garbage() {
    process.stdout.write('\u001b[32mStarting\u2026\u001b[0m\n{"level":"info"}\n[1,2]\n\n')
    const timer = setInterval(() => process.stdout.write('still here\nnull\n'), 20)
    timer.unref()
    const { server } = createHost()
    void serveStdio(server, { guard: false })
  },
  /** Reads all input and never responds. */
  nothing() {
    process.stdin.resume()
    ignoreEverything()
  },
  /** Crashes on its first call. */
  flaky() {
    appendFileSync(process.argv[3] as string, 'started\n')
    const server = createServer({ name: 'flaky', version: '1' }).tool('crash', {}, () => process.exit(9))
    void serveStdio(server)
  },
}

function runLegacyServer(onUnknown: 'exit' | 'silence'): void {
  const result = {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'older', version: '1' },
  }
  const tools = [{ name: 'started', inputSchema: { type: 'object' } }]
  const answers: Record<string, object> = { initialize: result, 'tools/list': { tools } }
  let text = ''
  process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const { id, method } of lines.map((line) => JSON.parse(line))) {
      const answer = answers[method]
      if (answer !== undefined) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: answer })}\n`)
      else if (id !== undefined && onUnknown === 'exit') process.exit(1)
    }
  })
}

if (process.argv[1] === import.meta.filename) behaviours[process.argv[2] ?? 'serve']?.()
