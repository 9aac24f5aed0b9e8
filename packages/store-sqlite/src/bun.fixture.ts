/** Runs the contract of stores on Bun: `bun --conditions=source bun.fixture.ts <folder>`. Prints each case with its error. */

import { join } from 'node:path'
import { storeContract } from '@mcpx/testing'
import { type SqliteDatabase, type SqliteStore, sqliteStore } from './index.ts'

// The compiler does not know the module, because it does not load the types of Bun.
const driver: string = 'bun:sqlite'
const { Database } = (await import(driver)) as { Database: new (file: string) => SqliteDatabase }

const [folder = ''] = process.argv.slice(2)
const files = new Map<SqliteStore, string>()

function open(file: string): SqliteStore {
  const store = sqliteStore(new Database(file))
  files.set(store, file)
  return store
}

const cases = storeContract(() => open(join(folder, `${files.size}.db`)), {
  openSecond: (store) => open(files.get(store as SqliteStore) ?? ''),
  waitForDelivery: () => new Promise((resolve) => setTimeout(resolve, 300)),
})
const results: { name: string; error?: string }[] = []
for (const { name, run } of cases) {
  await run().then(
    () => results.push({ name }),
    (error: Error) => results.push({ name, error: error.message }),
  )
}
process.stdout.write(JSON.stringify(results))
