/** Finds out whether a process or any process that it started is alive, and ends all of them. */

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
      // There is a process, but this one may not signal it.
      return (error as NodeJS.ErrnoException).code === 'EPERM'
    }
  }
  let nextLook = 0
  return {
    isAlive() {
      if (isRunning(child)) return true
      if (!send(0)) return false
      // Reading /proc takes a while: its result is reused for a short time.
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
 * Returns whether a group has a process that is not a zombie. In a container whose first process does not wait for orphans,
 * zombies stay and can be signalled. Other systems than Linux do not show it: returns true there.
 */
function hasLivingMember(group: number): boolean {
  if (process.platform !== 'linux') return true
  try {
    return readdirSync('/proc').some((name) => /^\d+$/.test(name) && isLivingMember(name, group))
  } catch {
    return true
  }
}

/** `pid (name) state ppid pgrp …`, see proc_pid_stat(5); a name may hold anything. */
function isLivingMember(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state, , id] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3)
    return Number(id) === group && state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}

/** Windows has no process groups: the children are found through the parent while it is alive. */
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

/** Ends the tree when this process exits without having closed the connection. */
function endAtExit(child: ChildProcess, tree: ProcessTree): void {
  if (living.size === 0) process.on('exit', endAll)
  living.set(child, tree)
}

/** Removes the tree from those that are ended at the exit of this process. */
export function forgetTree(child: ChildProcess): void {
  if (living.delete(child) && living.size === 0) process.removeListener('exit', endAll)
}

function endAll(): void {
  for (const [child, tree] of living) {
    if (!isWindows) tree.signal('SIGTERM')
    else if (isRunning(child)) execFileSync('taskkill', taskkill(child), { windowsHide: true, stdio: 'ignore' })
  }
}

export interface LadderTimes {
  readonly end: number
  readonly terminate: number
  readonly kill: number
}

/** Waits for the tree to end by itself, then sends SIGTERM, then SIGKILL. Resolves to whether no process is left. */
export async function endTree(tree: ProcessTree, { end, terminate, kill }: LadderTimes): Promise<boolean> {
  if (await endsWithin(tree, end)) return true
  tree.signal('SIGTERM')
  if (await endsWithin(tree, terminate)) return true
  tree.signal('SIGKILL')
  return endsWithin(tree, kill)
}

/** There is no event for the end of a process group: it is polled, at growing intervals. */
async function endsWithin(tree: ProcessTree, within: number): Promise<boolean> {
  const deadline = performance.now() + within
  for (let pause = 2; tree.isAlive(); pause = Math.min(50, pause * 1.5)) {
    const left = deadline - performance.now()
    if (left <= 0) return false
    await new Promise((resolve) => void setTimeout(resolve, Math.min(pause, left)))
  }
  return true
}
