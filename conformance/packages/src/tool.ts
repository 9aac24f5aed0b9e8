/** Runs a tool to its end and keeps what it prints. */
import { spawn } from 'node:child_process'

const LIMIT = 180_000

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** Both, as they came. */
  readonly output: string
}

/** Runs `command` in `folder`, with `more` in its environment. After three minutes it is ended and counts as failed. */
export function run(
  command: string,
  args: readonly string[],
  folder: string,
  more: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { ...plainEnvironment(), ...more }
    const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let [stdout, stderr, output] = ['', '', '']
    const timer = setTimeout(() => {
      output += `\n${command} took longer than ${LIMIT / 1000} s and was ended`
      child.kill('SIGKILL')
    }, LIMIT)
    const finish = (code: number): void => {
      clearTimeout(timer)
      resolve({ code, stdout, stderr, output })
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      output += text
    })
    child.on('error', (error) => {
      output += `${command}: ${error.message} (start this by \`npm run check\`, which brings the tools)`
      finish(127)
    })
    child.on('close', (code) => finish(code ?? 1))
  })
}

/** npm tells its scripts about the package it runs; a tool started from there is not to mistake that for its own. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(?:npm_(?:lifecycle|package|config_local_prefix|command)|INIT_CWD$)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)))
}
