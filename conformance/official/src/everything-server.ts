/** Starts the server that is tested, as a process of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../../apps/everything-server/dist/main.js', import.meta.url))

/** How long it may take to start, in ms. */
const START = 10_000

export interface Running {
  readonly url: string
  /** What it had to say of faults. */
  readonly complaints: () => string
  readonly stop: () => Promise<void>
}

/** Rejects when the server does not start. */
export function startServer(): Promise<Running> {
  const child = spawn(process.execPath, ['--no-deprecation', program, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  let printed = ''
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      child.kill()
      reject(new Error(`The server ${why}: run npm run build.\n${complaints}`))
    }
    const timer = setTimeout(fail, START, `did not start within ${START} ms`)
    child.once('error', (error) => fail(error.message))
    child.once('exit', (code) => fail(`exited with code ${code}`))
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      const url = /^serving (\S+)$/m.exec(printed)?.[1]
      if (url === undefined) return
      clearTimeout(timer)
      resolve({
        url,
        complaints: () => (child.exitCode === null ? complaints : `${complaints}exited with ${child.exitCode}\n`),
        async stop() {
          child.kill()
          await exited
        },
      })
    })
  })
}
