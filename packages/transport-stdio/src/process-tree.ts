/** Finds out whether a process or a process that it has started is running, and ends all of them. */

import { type ChildProcess, execFile, execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const isWindows = process.platform === 'win32'

export interface ProcessTree {
  isAlive(): boolean
  signal(name: 'SIGTERM' | 'SIGKILL'): void
}

/** Returns the tree of processes below a child. On POSIX the child must lead its own process group (`detached`). */
export function processTree(child: ChildProcess): ProcessTree {
  const tree = isWindows ? windowsTree(child) : posixGroup(child)
  endAtExit(child, tree)
  return tree
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null
}

function posixGroup(child: ChildProcess): ProcessTree {
  const id = child.pid ?? 0
  const send = (signal: NodeJS.Signals | 0): boolean => {
    if (id === 0) return false
    try {
      return process.kill(-id, signal)
    } catch (error) {
      // The process exists, but this process may not send signals to it.
      return (error as NodeJS.ErrnoException).code === 'EPERM'
    }
  }
  let nextLook = 0
  return {
    isAlive() {
      if (isRunning(child)) return true
      if (!send(0)) return false
      // Reading /proc is slow, so its result is used again for a short time.
      if (performance.now() < nextLook) return true
      const isAlive = hasLivingMember(id)
      nextLook = performance.now() + REUSE_INTERVAL
      return isAlive
    },
    signal(name) {
      if (!send(name) && isRunning(child)) child.kill(name)
    },
  }
}

/** How long a result of /proc is used, in ms. */
const REUSE_INTERVAL = 40

/**
 * Returns whether a process group has a process that is not a zombie. Zombies remain in a container whose first process
 * does not wait for orphans, and signals to zombies succeed. Only Linux shows whether a process is a zombie; on other
 * systems, returns true.
 */
function hasLivingMember(group: number): boolean {
  if (process.platform !== 'linux') return true
  try {
    return readdirSync('/proc').some((name) => /^\d+$/.test(name) && isLivingMember(name, group))
  } catch {
    return true
  }
}

/** Parses `pid (name) state ppid pgrp …`, see proc_pid_stat(5). The name may contain any characters. */
function isLivingMember(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state, , id] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3)
    return Number(id) === group && state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}

/**
 * The process tree on Windows, which has no process groups. Child processes can be found only while their parent runs.
 */
function windowsTree(child: ChildProcess): ProcessTree {
  return {
    isAlive: () => isRunning(child),
    signal() {
      if (isRunning(child)) execFile('taskkill', taskkill(child), { windowsHide: true }, () => {})
    },
  }
}

function taskkill(child: ChildProcess): string[] {
  return ['/pid', String(child.pid), '/T', '/F']
}

const living = new Map<ChildProcess, ProcessTree>()

/** Ends the tree if this process exits without closing the connection. */
function endAtExit(child: ChildProcess, tree: ProcessTree): void {
  if (living.size === 0) process.on('exit', endAll)
  living.set(child, tree)
}

/** Removes the tree from the trees that are ended when this process exits. */
export function forgetTree(child: ChildProcess): void {
  if (living.delete(child) && living.size === 0) process.removeListener('exit', endAll)
}

function endAll(): void {
  for (const [child, tree] of living) {
    if (!isWindows) tree.signal('SIGTERM')
    else if (isRunning(child)) execFileSync('taskkill', taskkill(child), { windowsHide: true, stdio: 'ignore' })
  }
}

export interface EndTreeTimes {
  readonly end: number
  readonly terminate: number
  readonly kill: number
}

/** Waits for the tree to end by itself, then sends SIGTERM, then SIGKILL. Resolves to true if no process is left. */
export async function endTree(tree: ProcessTree, { end, terminate, kill }: EndTreeTimes): Promise<boolean> {
  if (await endsWithin(tree, end)) return true
  tree.signal('SIGTERM')
  if (await endsWithin(tree, terminate)) return true
  tree.signal('SIGKILL')
  return endsWithin(tree, kill)
}

/** Polls the tree at growing intervals, because there is no event for the end of a process group. */
async function endsWithin(tree: ProcessTree, within: number): Promise<boolean> {
  const deadline = performance.now() + within
  for (let pause = 2; tree.isAlive(); pause = Math.min(50, pause * 1.5)) {
    const left = deadline - performance.now()
    if (left <= 0) return false
    await new Promise((resolve) => void setTimeout(resolve, Math.min(pause, left)))
  }
  return true
}
