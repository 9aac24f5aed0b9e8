import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './citations.ts'

/** The public members of deprecated features: the file, and the line below the comment. */
const marked: readonly (readonly [string, string])[] = [
  ['packages/protocol/src/context.ts', 'readonly log: Logger'],
  ['packages/protocol/src/context.ts', 'sample(key: string'],
  ['packages/protocol/src/context.ts', 'roots(key?: string'],
  ['packages/protocol/src/handler.ts', 'setLogLevel(params'],
  ['packages/server/src/questions.ts', 'export function sample('],
  ['packages/server/src/questions.ts', 'export function roots('],
  ['packages/server/src/server.ts', 'readonly logging?'],
]

it.each(marked)('deprecated members say why, since when, and what to use instead: %s, %s [S-223]', (path, line) => {
  const source = readFileSync(join(root, path), 'utf8')
  const before = source.slice(0, source.indexOf(line)).trimEnd()
  const comment = before.slice(before.lastIndexOf('/**'))
  expect(comment.endsWith('*/'), 'a comment directly above').toBe(true)
  const text = comment.replaceAll(/\s*\n\s*\* ?/g, ' ')
  expect(text).toMatch(/@deprecated .*2027-07-28.*\(SEP-2577\): \w+/)
})
