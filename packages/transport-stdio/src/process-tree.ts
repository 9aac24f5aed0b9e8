/** A process and all that it started: whether any of it is alive, and how all of it is ended. */

import { type ChildProcess, execFile, execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const isWindows = process.platform === 'win32'

export interface ProcessTree {
  isAlive(): boolean
  signal(name: 'SIGTERM' | 'SIGKILL'): void
}

/** The child must lead a process group of its own, as `detached` makes it do on POSIX. */
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
      // Somebody is there who must not be signalled.
      return (error as NodeJS.ErrnoException).code === 'EPERM'
    }
  }
  let notBefore = 0
  return {
    isAlive() {
      if (isRunning(child)) return true
      if (!send(0)) return false
      // Looking takes a while; between two looks what was alive is taken to be.
      if (performance.now() < notBefore) return true
      const isAlive = hasLiving(id)
      notBefore = performance.now() + LOOK_INTERVAL
      return isAlive
    },
    signal(name) {
      if (!send(name) && isRunning(child)) child.kill(name)
    },
  }
}

const LOOK_INTERVAL = 40

/**
 * Whether a group has more than dead processes. In a container whose first process buries nobody, the dead stay, and
 * can be signalled. Only Linux tells.
 */
function hasLiving(group: number): boolean {
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

/** Windows knows no groups: the children are found through the parent while it lives. */
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

/** What this process leaves behind when it exits without closing is told to end. */
function endAtExit(child: ChildProcess, tree: ProcessTree): void {
  if (living.size === 0) process.on('exit', endAll)
  living.set(child, tree)
}

/** The tree is gone, or given up. */
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

/** Waits for the tree to end by itself, then sees to it. Whether nothing is left. */
export async function endTree(tree: ProcessTree, { end, terminate, kill }: LadderTimes): Promise<boolean> {
  if (await isGone(tree, end)) return true
  tree.signal('SIGTERM')
  if (await isGone(tree, terminate)) return true
  tree.signal('SIGKILL')
  return isGone(tree, kill)
}

/** A group tells nobody when its last process ends: it is asked, ever less often. */
async function isGone(tree: ProcessTree, within: number): Promise<boolean> {
  const deadline = performance.now() + within
  for (let pause = 2; tree.isAlive(); pause = Math.min(50, pause * 1.5)) {
    const left = deadline - performance.now()
    if (left <= 0) return false
    await new Promise((resolve) => void setTimeout(resolve, Math.min(pause, left)))
  }
  return true
}
