/** Runs a tool and collects its output. */
import { spawn } from 'node:child_process'

const TIMEOUT = 180_000

export interface ToolResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** stdout and stderr in order. */
  readonly output: string
}

/** Runs `command` in `folder` with additional environment variables. It is killed after three minutes. */
export function run(
  command: string,
  args: readonly string[],
  folder: string,
  more: NodeJS.ProcessEnv = {},
): Promise<ToolResult> {
  return new Promise((resolve) => {
    const env = { ...plainEnvironment(), ...more }
    const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let [stdout, stderr, output] = ['', '', '']
    const timer = setTimeout(() => {
      output += `\n${command} took longer than ${TIMEOUT / 1000} s and was killed`
      child.kill('SIGKILL')
    }, TIMEOUT)
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
      output += `${command}: ${error.message} (run it with \`npm run check\`, which provides the tools)`
      finish(127)
    })
    child.on('close', (code) => finish(code ?? 1))
  })
}

/** Returns the environment without the variables that npm sets for its scripts. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(?:npm_(?:lifecycle|package|config_local_prefix|command)|INIT_CWD$)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)))
}
