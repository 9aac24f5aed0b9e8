/** `mcpx lock`: writes the definitions of a server to a file, and compares the server with it. */

import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { compareLock, createLock, describeDifference, type LockDifference, type ServerLock } from '@mcpx/client'
import type { Command } from 'commander'
import { CliError, ExitCode, usageError } from '../output/errors.ts'
import type { Output, Style } from '../output/output.ts'
import { plainText } from '../output/plain-text.ts'
import { useServer } from '../server/open.ts'
import { addServerArgument, type ServerOptions } from '../server/options.ts'
import type { CommandContext } from './index.ts'

interface LockOptions extends ServerOptions {
  readonly check?: boolean
  readonly file: string
}

export function define(command: Command, context: CommandContext): void {
  addServerArgument(command)
    .option('--check', 'only compare the server with the file: exit with 1 if it differs')
    .option('--file <file>', 'the file with the definitions', 'mcpx.lock.json')
    .action(async (server: string, options: LockOptions) => {
      const { terminal, output } = context
      const file = resolve(terminal.cwd, options.file)
      const before = await readLock(file, options)
      const current = await useServer(context, server, options, createLock)
      const differences = before === undefined ? [] : compare(before, current, options.file)
      const isWritten = options.check !== true && (before === undefined || differences.length > 0)
      if (isWritten) await writeFile(file, `${JSON.stringify(current, undefined, 2)}\n`)
      if (options.check === true && differences.length > 0) context.exitCode = ExitCode.failure
      output.result({ file, written: isWritten, differences }, () => {
        const lines = differences.map((difference) => formatDifference(difference, output))
        return [...lines, summarize(options, current, before, differences.length)].join('\n')
      })
    })
}

/** Reads the lock file. Returns undefined if it does not exist yet. */
async function readLock(file: string, { check, file: name }: LockOptions): Promise<ServerLock | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    if ((cause as { code?: string }).code !== 'ENOENT') throw usageError(`${name}: ${(cause as Error).message}`)
    if (check !== true) return undefined
    throw usageError(`${name}: expected a lock, got no file`, 'Write it first: mcpx lock <server>')
  }
  try {
    return JSON.parse(text) as ServerLock
  } catch (cause) {
    throw new CliError(
      'usage',
      `${name}: expected JSON`,
      'Delete the file and write it again: mcpx lock <server>',
      cause,
    )
  }
}

function compare(before: ServerLock, current: ServerLock, file: string): LockDifference[] {
  try {
    return compareLock(before, current)
  } catch (cause) {
    throw new CliError('usage', `${file}: ${(cause as Error).message}`, undefined, cause)
  }
}

const STYLES: Readonly<Record<LockDifference['risk'], Style>> = { high: 'red', medium: 'yellow', low: 'dim' }

function formatDifference(difference: LockDifference, output: Output): string {
  return output.style(STYLES[difference.risk], plainText(describeDifference(difference)))
}

function summarize(options: LockOptions, lock: ServerLock, before: ServerLock | undefined, count: number): string {
  const { tools, prompts, resources, resourceTemplates } = lock
  const counts = [
    counted(Object.keys(tools).length, 'tool'),
    counted(Object.keys(prompts).length, 'prompt'),
    counted(Object.keys(resources).length + Object.keys(resourceTemplates).length, 'resource'),
  ].join(', ')
  if (options.check === true && count > 0) {
    return `${counted(count, 'difference')}. If you accept the changes, lock the server again: mcpx lock <server>`
  }
  if (count > 0) return `Locked ${counts} in ${options.file}, with ${counted(count, 'difference')} from the last lock`
  return before === undefined ? `Locked ${counts} in ${options.file}` : `No differences: ${counts}`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
