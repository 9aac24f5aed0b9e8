import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'
import { afterEach, describe, expect, it } from 'vitest'
import { sharing } from './sharing.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

const SIZE = "export { most } from './limits.ts'"

/** The code of each file that a package is published as, by its name. */
async function publish(files: Readonly<Record<string, string>>, ...names: string[]): Promise<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'sharing-'))
  folders.push(folder)
  for (const [name, code] of Object.entries({ 'limits.ts': 'export const most = () => 7', ...files })) {
    mkdirSync(dirname(join(folder, 'src', name)), { recursive: true })
    writeFileSync(join(folder, 'src', name), code)
  }
  const entries = names.map((name) => join(folder, 'src', `${name}.ts`))
  const input = Object.fromEntries(names.map((name, index) => [name, entries[index] as string]))
  const build = await rolldown({ input, treeshake: false, plugins: [sharing(entries)] })
  const { output } = await build.generate({ entryFileNames: '[name].js', chunkFileNames: '[name].js' })
  await build.close()
  return Object.fromEntries(output.map((file) => [file.fileName, 'code' in file ? file.code : '']))
}

describe('what entries of a package have in common', () => {
  it('is copied where it is small and keeps nothing', async () => {
    const files = await publish({ 'index.ts': SIZE, 'memory.ts': SIZE }, 'index', 'memory')
    expect(Object.keys(files).sort()).toEqual(['index.js', 'memory.js'])
    expect(files['memory.js']).toContain('() => 7')
    expect(files['index.js']).toContain('() => 7')
  })

  it('is a file of its own otherwise, and where no entry is apart', async () => {
    const files = await publish({ 'index.ts': SIZE, 'other.ts': SIZE }, 'index', 'other')
    expect(Object.keys(files)).toHaveLength(3)
  })

  it('is imported from the entry that exports it, where it is a class', async () => {
    const taken = "export { ConnectionError } from './connection-error.ts'"
    const given = { 'connection-error.ts': 'export class ConnectionError {}', 'index.ts': taken }
    const channel = {
      'memory.ts': "export * from './memory/channel.ts'",
      'memory/channel.ts': taken.replace('./', '../'),
    }
    const files = await publish({ ...given, ...channel }, 'index', 'memory')
    expect(Object.keys(files).sort()).toEqual(['index.js', 'memory.js'])
    expect(files['index.js']).toContain('class {}')
    expect(files['memory.js']).not.toContain('class {}')
    expect(files['memory.js']).toMatch(/^export \{ ConnectionError \} from "\.\/index\.js"/)
  })

  it('is imported from an entry that is all of it', async () => {
    const all = { 'encode.ts': 'export const encode = () => 8', 'index.ts': "export { encode } from './encode.ts'" }
    const files = await publish(all, 'index', 'encode')
    expect(Object.keys(files).sort()).toEqual(['encode.js', 'index.js'])
    expect(files['index.js']).toContain('"./encode.js"')
  })
})
