import { describeContract, storeContract } from '@mcpx/testing'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type Folder, makeFolder, type openBy } from './database.fixture.ts'
import { type SqliteStore, sqliteStore } from './index.ts'

const pairs: readonly (readonly [near: keyof typeof openBy, far: keyof typeof openBy])[] = [
  ['node:sqlite', 'node:sqlite'],
  ['better-sqlite3', 'node:sqlite'],
]

describe.each(pairs)('%s and %s', (near, far) => {
  let folder: Folder
  let count = 0
  const files = new Map<SqliteStore, string>()
  beforeAll(() => {
    folder = makeFolder()
  })
  afterAll(() => folder.remove())

  function open(driver: keyof typeof openBy, file: string): SqliteStore {
    const store = sqliteStore(folder.open(driver, file))
    files.set(store, file)
    return store
  }

  describeContract(
    'two connections to one file',
    storeContract(() => open(near, `${count++}.db`), {
      openSecond: (store) => open(far, files.get(store as SqliteStore) ?? ''),
      waitForDelivery: () => new Promise((resolve) => setTimeout(resolve, 300)),
    }),
    { describe, it },
  )
})
