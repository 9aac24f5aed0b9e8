import { readFileSync } from 'node:fs'
import type { SessionState, SessionStore } from '@mcpx/protocol'
import { expect, it } from 'vitest'
import { sessionStoreContract } from './index.ts'

/** Keeps JSON text, as a database would. */
function createTextStore(rows: Map<string, { text: string; diesAt: number }>): SessionStore {
  const alive = (id: string) => {
    const row = rows.get(id)
    return row !== undefined && row.diesAt > Date.now() ? row : undefined
  }
  return {
    create(id, state, ttl) {
      if (alive(id) !== undefined) throw new Error('A session with this id exists already')
      rows.set(id, { text: JSON.stringify(state), diesAt: Date.now() + ttl })
    },
    get(id, ttl) {
      const row = alive(id)
      if (row !== undefined && ttl !== undefined) row.diesAt = Date.now() + ttl
      return row && (JSON.parse(row.text) as SessionState)
    },
    update(id, change) {
      const row = alive(id)
      if (row === undefined) return undefined
      const state = JSON.parse(row.text) as SessionState
      change(state)
      row.text = JSON.stringify(state)
      return state
    },
    delete: (id) => alive(id) !== undefined && rows.delete(id),
  }
}

const rows = new Map()
sessionStoreContract('text', {
  create() {
    rows.clear()
    return createTextStore(rows)
  },
  twin: () => createTextStore(rows),
})

it('is the example of the README, to the letter', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
  const [, shown = ''] = /^```ts\n.*?\n\n(.*?)^```$/ms.exec(read('../README.md')) ?? []
  expect(shown).not.toBe('')
  expect(read('text-store.test.ts')).toContain(shown)
})
