/** Starts servers with `spawn`. An environment variable marks them, so that a test finds processes that are left. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Connection, Responder } from '@mcpx/protocol'
import { childArgs, compileCache } from './child.fixture.ts'
import { lives } from './processes.fixture.ts'
import { type SpawnOptions, spawn } from './spawn.ts'

export const node: string = process.execPath
export const quick = { end: 150, terminate: 150, kill: 1_000 }
/** A folder for the test file; its path is the mark. */
export const folder: string = mkdtempSync(join(tmpdir(), 'stdio-'))
export const reports: Error[] = []
export const silent: Responder = { respond: () => undefined }

/** Returns the ids of all marked processes that are alive. Removes the folder. */
export function leftOver(): string[] {
  rmSync(folder, { recursive: true, force: true })
  return readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`MARK=${folder}`) && lives(Number(pid))
    } catch {
      return false
    }
  })
}

export function open(mode: string, options: SpawnOptions = {}): Promise<Connection> {
  return openCommand(node, [...childArgs, mode], options)
}

export async function openCommand(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<Connection> {
  const env = { ...compileCache, ...options.env, MARK: folder }
  const connector = spawn(command, args, { stderr: 'ignore', ...options, env })
  return connector.connect({ responder: silent, onWarning: (problem) => void reports.push(problem) })
}

export async function ask(connection: Connection, method: string, params?: object): Promise<unknown> {
  return ((await connection.request(method, params)) as { value: unknown }).value
}
