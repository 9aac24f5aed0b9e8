/** The command line of mcpx as a function, for programs that embed it. */

export { ExitCode } from './output/errors.ts'
export { processTerminal, type Terminal } from './output/terminal.ts'
export { runCommandLine } from './run.ts'
