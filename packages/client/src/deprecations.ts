/** Says once in the life of a process that a part of the protocol which is in use will be taken out of it. */

import type { ClientOptions } from './options.ts'

type Part = 'sampling' | 'roots' | 'logging'

const INSTEAD: Readonly<Record<Part, string>> = {
  sampling: 'let servers call the API of a model themselves',
  roots: 'name folders in the arguments of tools, or in the configuration of the server',
  logging: "read the server's standard error, or its traces",
}

const said = new Set<Part>()

/** Warns of what these options use, where the runtime has a way to, as Node does; `--no-deprecation` silences it there. */
export function warnOfDeprecated({ onSample, roots, onLog, logLevel }: ClientOptions): void {
  if (onSample !== undefined) warn('sampling')
  if (roots !== undefined) warn('roots')
  if (onLog !== undefined || logLevel !== undefined) warn('logging')
}

interface Warner {
  emitWarning?(message: string, options: { type: string; code: string }): void
}

function warn(part: Part): void {
  if (said.has(part)) return
  said.add(part)
  const message = `@mcpx/client: ${part} is deprecated in the newest revision of the protocol; ${INSTEAD[part]}`
  const { process } = globalThis as { readonly process?: Warner }
  process?.emitWarning?.(message, { type: 'DeprecationWarning', code: `MCPX_${part.toUpperCase()}` })
}
