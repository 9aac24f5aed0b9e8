/** Decoding and encoding a message, compared with plain JSON: the cost of checks and limits. */
import { decode, encode, LATEST_MODERN_REVISION, type Message } from '@mcpx/protocol'
import type { SpeedCase, Subject } from '../case.ts'

/** The parameters of the nth message; all messages differ, so that no cache affects the result. */
type Params = (n: number) => object

/** The number of different messages. */
const TEXTS = 64

const small: Params = (n) => ({
  name: 'search_files',
  arguments: { pattern: `src/**/*.test-${n}.ts`, directory: 'packages/protocol/src', limit: 50, includeHidden: false },
})

const modern: Params = (n) => ({
  name: 'calculator_add_numbers',
  arguments: { a: n, b: 3 },
  _meta: {
    'io.modelcontextprotocol/protocolVersion': LATEST_MODERN_REVISION,
    'io.modelcontextprotocol/clientInfo': { name: 'bench-client', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
})

const rows: Params = (n) => ({
  name: 'insert_rows',
  arguments: {
    table: 'people',
    rows: Array.from({ length: 900 }, (_, row) => ({
      id: 1_000_000 + row * n,
      name: 'Ada Lovelace',
      email: `ada.${1_000_000 + row}@example.org`,
      tags: ['first', 'count'],
      active: row % 2 === 0,
    })),
  },
})

const longText: Params = (n) => ({
  name: 'write_file',
  arguments: { path: `notes-${n}.md`, text: 'A line of prose, with "quotes" in it.\n'.repeat(2_430) },
})

function messageText(params: Params, n: number): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 100_000 + n, method: 'tools/call', params: params(n) })
}

function subjectsOf(name: string, says: string, params: Params, atMost?: number): Subject[] {
  const work = (turn: (text: string) => string) => () => {
    const texts = Array.from({ length: TEXTS }, (_, n) => messageText(params, n))
    let n = 0
    const call = () => turn(texts[++n % TEXTS] as string)
    return { call, isRight: (text: unknown) => text === texts[n % TEXTS], characters: (texts[1] as string).length }
  }
  const base = `${name}, JSON alone`
  return [
    {
      name: base,
      says: '`JSON.parse` and `JSON.stringify`',
      prepare: work((text) => JSON.stringify(JSON.parse(text))),
    },
    {
      name,
      says,
      against: base,
      atMost,
      prepare: work((text) => encode(decode(text) as Message)),
    },
  ]
}

export const codec: SpeedCase = {
  kind: 'speed',
  name: 'codec',
  says: '`decode` and `encode` of one `tools/call`, against `JSON.parse` and `JSON.stringify` of the same text.',
  subjects: [
    ...subjectsOf('200 B', 'a small call', small, 1.5),
    ...subjectsOf('310 B', 'a call that carries its `_meta`', modern),
    ...subjectsOf('100 kB in rows', '900 objects', rows),
    ...subjectsOf('100 kB of text', 'one long string', longText),
  ],
}
