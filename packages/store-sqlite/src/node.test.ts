import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openLocalState } from './node.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'local-state-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

const linux = it.runIf(process.platform === 'linux')

describe('openLocalState', () => {
  it('keeps the state and the secret for the next process', async () => {
    const first = openLocalState('shop', { folder })
    await first.store.tasks.create('a', 'begun', 60_000)
    await first.store.close()
    const second = openLocalState('shop', { folder })
    expect(await second.store.tasks.get('a')).toMatchObject({ data: 'begun' })
    expect(second.secrets).toEqual(first.secrets)
    expect(second.secrets[0].length).toBeGreaterThan(40)
    await second.store.close()
    await second.store.close()
    expect(readdirSync(folder).sort()).toEqual(['secret', 'state.db'])
  })

  linux('creates a folder of the user, which others cannot read', async () => {
    vi.stubEnv('XDG_STATE_HOME', folder)
    await openLocalState('shop').store.close()
    const own = join(folder, 'mcpx', 'shop')
    const modeOf = (path: string) => statSync(path).mode & 0o777
    expect([own, join(own, 'secret'), join(own, 'state.db')].map(modeOf)).toEqual([0o700, 0o600, 0o600])
    vi.stubEnv('XDG_STATE_HOME', '')
    vi.stubEnv('HOME', folder)
    await openLocalState('shop').store.close()
    expect(existsSync(join(folder, '.local/state/mcpx/shop/state.db'))).toBe(true)
  })

  it('gives processes that start at once the same secret', async () => {
    const program = `
      import { openLocalState } from ${JSON.stringify(fileURLToPath(new URL('node.ts', import.meta.url)))}
      const { store, secrets } = openLocalState('shop', { folder: ${JSON.stringify(folder)} })
      await store.counters.increment('k', 60_000)
      await store.close()
      console.log(secrets[0])`
    const args = ['--conditions=source', '--no-warnings', '--input-type=module', '--eval', program]
    const children = Array.from({ length: 4 }, () =>
      spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }),
    )
    const outputs = await Promise.all(
      children.map(async (child) => {
        let output = ''
        child.stdout.on('data', (chunk) => (output += String(chunk)))
        await once(child, 'close')
        return output.trim()
      }),
    )
    expect(new Set(outputs)).toEqual(new Set([readFileSync(join(folder, 'secret'), 'utf8')]))
    const { store } = openLocalState('shop', { folder })
    expect((await store.counters.increment('k', 60_000)).count).toBe(5)
    await store.close()
    expect(readdirSync(folder).sort()).toEqual(['secret', 'state.db'])
  })

  it.each([
    ['', {}, 'openLocalState: name: expected up to 64 letters, digits, dots, underscores and hyphens'],
    ['../other', {}, 'got "../other"'],
    ['.hidden', {}, 'got ".hidden"'],
    [5, {}, 'got 5'],
    ['shop', { folder: 5 }, 'openLocalState: folder: expected a string, got number'],
    ['shop', { ttl: 5 }, 'sqliteStore: there is no option "ttl"'],
  ])('refuses the name %j with %j', (name, options, problem) => {
    expect(() => openLocalState(name as string, { folder, ...options } as never)).toThrow(problem)
  })

  it('names the remedy on a Node without SQLite', () => {
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never)
    expect(() => openLocalState('shop', { folder })).toThrow(
      /^openLocalState: expected Node 22\.5 or newer, got \d.*\. Update Node, or pass a database of better-sqlite3 to/,
    )
  })
})
