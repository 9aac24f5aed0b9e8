// Runs the tools: each captured child leads a process group of its own, so that it can be ended whole, by its id.
import { spawn } from 'node:child_process'

const onWindows = process.platform === 'win32'
/** @type {Set<{ child: import('node:child_process').ChildProcess, leadsGroup: boolean }>} */
const running = new Set()
let ending = false

/**
 * Runs a tool and keeps what it prints; `onText` sees it as it comes.
 * `limit` is in seconds, by default 600: at the limit the tool is ended and `timedOut` is true.
 * A tool that cannot be started gives code 127 and the reason as its output.
 */
export function capture(command, args, { env = process.env, cwd, onText, limit = 600 } = {}) {
  return new Promise((resolve) => {
    const started = performance.now()
    const stdio = ['ignore', 'pipe', 'pipe']
    const child = spawn(command, args, { cwd, env, stdio, detached: !onWindows, shell: onWindows })
    const entry = { child, leadsGroup: !onWindows }
    const state = { output: '', timedOut: false }
    const keep = (text) => {
      state.output += text
      onText?.(text)
    }
    const timer = setTimeout(() => {
      state.timedOut = true
      end(entry).catch(keep)
    }, limit * 1000)
    const finish = (code) => {
      clearTimeout(timer)
      running.delete(entry)
      // When we end the child ourselves nobody is to go on with what is left of its work.
      if (!ending) resolve({ code, ...state, seconds: (performance.now() - started) / 1000 })
    }
    running.add(entry)
    child.stdout.setEncoding('utf8').on('data', keep)
    child.stderr.setEncoding('utf8').on('data', keep)
    child.on('error', (error) => {
      keep(`${error.message}\n`)
      finish(127)
    })
    child.on('close', (code) => finish(code ?? 1))
    // A grandchild that outlives its parent may hold the pipe: what it says after a second is nobody's answer.
    child.on('exit', (code) => setTimeout(finish, 1000, code ?? 1).unref())
  })
}

/** Runs a tool on our own terminal, with our own input; resolves to its exit code. */
export function foreground(command, args, { env = process.env, cwd } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: 'inherit', shell: onWindows })
    const entry = { child, leadsGroup: false }
    running.add(entry)
    child.on('error', (error) => {
      process.stderr.write(`${command}: ${error.message}\n`)
      running.delete(entry)
      resolve(127)
    })
    child.on('exit', (code) => {
      running.delete(entry)
      if (!ending) resolve(code ?? 1)
    })
  })
}

/** From now on Ctrl-C or a termination signal ends all children, and then us with 128 + the signal's number. */
export function endChildrenWithUs() {
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }
  const leave = async (signal) => {
    if (ending) return
    ending = true
    await Promise.all([...running].map(end))
    process.stderr.write(`\nstopped by ${signal}\n`)
    process.exit(codes[signal])
  }
  for (const signal of Object.keys(codes)) process.on(signal, leave)
  // npm passes a signal on to the shell it runs us in, and that shell dies of it without a word to us.
  const parent = process.ppid
  const orphaned = () => process.ppid !== parent && leave('SIGTERM')
  if (process.env.npm_lifecycle_event !== undefined) setInterval(orphaned, 250).unref()
}

/** Asks a child to end, and ends it by force when it has not done so after three seconds. */
async function end({ child, leadsGroup }) {
  if (child.pid === undefined) return
  const target = leadsGroup ? -child.pid : child.pid
  if (child.exitCode === null && child.signalCode === null) {
    const gone = new Promise((resolve) => child.once('exit', resolve))
    send(target, 'SIGTERM')
    const force = setTimeout(send, 3000, target, 'SIGKILL')
    await gone
    clearTimeout(force)
  }
  // The leader is gone; what it may have left behind in its group goes too.
  if (leadsGroup) send(target, 'SIGKILL')
}

function send(target, signal) {
  try {
    process.kill(target, signal)
  } catch {
    // Nothing answers to that id any more, which is what was asked for.
  }
}
