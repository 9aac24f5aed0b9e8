import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { storeContract } from '@mcpx/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { makeFolder } from './database.fixture.ts'
import { sqliteStore } from './index.ts'

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))
// The install script of the package moves the program to this path on every platform.
const bun = pathOf('../node_modules/bun/bin/bun.exe')

describe.skipIf(!existsSync(bun))('a store over bun:sqlite', () => {
  const folder = makeFolder()
  afterAll(() => folder.remove())

  it('passes the contract of stores', async () => {
    const args = ['--conditions=source', pathOf('bun.fixture.ts'), folder.path('')]
    const { stdout } = await promisify(execFile)(bun, args, { timeout: 60_000, killSignal: 'SIGKILL' })
    const create = () => sqliteStore(folder.open('node:sqlite'))
    const names = storeContract(create, { openSecond: create }).map(({ name }) => name)
    expect(JSON.parse(stdout)).toEqual(names.map((name) => ({ name })))
  }, 60_000)
})
