/** Finds what a file imports: statements, re-exports, `import()` and `import('x').Type`. */
import { builtinModules } from 'node:module'
import type { Token } from './tokens.ts'

export interface Import {
  /** As written: `./x.ts`, `@mcpx/protocol/memory`, `node:fs`. */
  readonly specifier: string
  readonly line: number
}

/** The imports of a file, from its tokens without comments. */
export function readImports(code: readonly Token[]): Import[] {
  return code.flatMap((token, index) => {
    if (token.kind !== 'string' || !isSpecifier(code, index)) return []
    return [{ specifier: token.text, line: token.line }]
  })
}

function isSpecifier(code: readonly Token[], index: number): boolean {
  const before = code[index - 1]
  const earlier = code[index - 2]
  if (before?.text === 'import' && before.kind === 'word') return true
  if (before?.text === '(' && (earlier?.text === 'import' || earlier?.text === 'require')) return true
  // `from` is also a fine name for a variable: what follows one is never a string without an operator between.
  return (
    before?.text === 'from' &&
    before.kind === 'word' &&
    (earlier?.text === '}' || earlier?.kind === 'word' || earlier?.text === '*')
  )
}

/** `@mcpx/protocol/memory` -> `@mcpx/protocol`; nothing for relative paths and what the runtime brings. */
export function packageOf(specifier: string): string | undefined {
  if (/^[./#]/.test(specifier) || isNodeModule(specifier) || specifier.includes(':')) return undefined
  const parts = specifier.split('/')
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}

/** Whether Node itself brings this module. */
export function isNodeModule(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier)
}
