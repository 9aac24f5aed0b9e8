// Runs the tools. Each captured child leads a process group, so that it can be stopped together with its own children.
import { spawn } from 'node:child_process'

const onWindows = process.platform === 'win32'
/** @type {Set<{ child: import('node:child_process').ChildProcess, leadsGroup: boolean }>} */
const running = new Set()
let ending = false

/** How long a captured tool may run, in ms. */
const LIMIT = 1_800_000

/**
 * Runs a tool and returns its output and exit code; `onText` receives the output while it runs.
 * After 30 minutes the tool is stopped and `timedOut` is true. A tool that cannot be started has the code 127.
 */
export function capture(command, args, { env = process.env, cwd, onText } = {}) {
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
    }, LIMIT)
    const finish = (code) => {
      clearTimeout(timer)
      running.delete(entry)
      // The promise stays pending while all children are being stopped.
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
    // A grandchild may outlive its parent and keep the pipe open; its output is ignored after a second.
    child.on('exit', (code) => setTimeout(finish, 1000, code ?? 1).unref())
  })
}

/** Runs a tool with our own standard streams; returns its exit code. */
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

/** Makes Ctrl-C and termination signals stop all children, and then this process with 128 + the number of the signal. */
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
  // npm sends a signal to the shell that runs this process. The shell exits and does not forward the signal.
  const parent = process.ppid
  const orphaned = () => process.ppid !== parent && leave('SIGTERM')
  if (process.env.npm_lifecycle_event !== undefined) setInterval(orphaned, 250).unref()
}

/** Stops a child; kills it after three seconds. */
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
  // The leader has exited; its group may still have members.
  if (leadsGroup) send(target, 'SIGKILL')
}

function send(target, signal) {
  try {
    process.kill(target, signal)
  } catch {
    // The process does not exist any more.
  }
}
