/** The command line of mcpx as a function, for programs that embed it. */

import { extname } from 'node:path'
import { processTerminal } from './output/terminal.ts'
import { run } from './run.ts'

/**
 * Runs a command line with the streams and the environment of this process, and resolves to the exit code: 0 for success. It
 * writes errors to standard error, never throws, and does not exit.
 *
 * ```ts
 * process.exitCode = await runCommandLine(['list', 'https://example.com/mcp'])
 * ```
 *
 * @param args the arguments after the name of the program
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const terminal = processTerminal(new URL(`./main${extname(import.meta.url)}`, import.meta.url))
  const exitCode = await run(args, terminal)
  await terminal.finish()
  return exitCode
}
