/** Starts the tested server as a child process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../../apps/everything-server/dist/main.js', import.meta.url))

/** The timeout for starting, in milliseconds. */
const START_TIMEOUT = 10_000

export interface RunningServer {
  readonly url: string
  /** Returns its output on stderr. */
  readonly errors: () => string
  readonly stop: () => Promise<void>
}

/** Starts the server; rejects if it does not start. */
export function startServer(): Promise<RunningServer> {
  const child = spawn(process.execPath, ['--no-deprecation', program, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  let stdout = ''
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => {
      child.kill()
      reject(new Error(`The server ${reason}: run npm run build.\n${errors}`))
    }
    const timer = setTimeout(fail, START_TIMEOUT, `did not start within ${START_TIMEOUT} ms`)
    child.once('error', (error) => fail(error.message))
    child.once('exit', (code) => fail(`exited with code ${code}`))
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const url = /^serving (\S+)$/m.exec(stdout)?.[1]
      if (url === undefined) return
      clearTimeout(timer)
      resolve({
        url,
        errors: () => (child.exitCode === null ? errors : `${errors}exited with ${child.exitCode}\n`),
        async stop() {
          child.kill()
          await exited
        },
      })
    })
  })
}
