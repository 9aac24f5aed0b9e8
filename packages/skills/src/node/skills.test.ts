import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, realpath, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Client, connect } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { skills as bundledSkills } from '../index.ts'
import { BUNDLE } from '../skills.fixture.ts'
import { Folder } from './folder.ts'
import { bundleSkills, type FolderSkillsOptions, skills } from './skills.ts'

const GIT = '---\nname: git\ndescription: Uses git\n---\n'

let folder: string
beforeEach(async () => {
  folder = join(await realpath(await mkdtemp(join(tmpdir(), 'skills-'))), 'skills')
  await mkdir(folder)
})
afterEach(() => rm(dirname(folder), { recursive: true }))

async function write(files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
}

const info = { name: 'desk', version: '1.0.0' }

async function open(options: FolderSkillsOptions = {}) {
  const onWarning = vi.fn<(warning: Error) => void>()
  const server = createServer(info, { extensions: [skills(folder, { watch: false, onWarning, ...options })] })
  const client = await connect(server)
  return { server, client, warnings: () => onWarning.mock.calls.map(([{ message }]) => message) }
}

async function entriesOf(client: Client) {
  const { skills } = await client.request('skills/list')
  return skills as { uri: string; resources: { uri: string; size: number }[] }[]
}

const urisOf = async (client: Client) => (await entriesOf(client)).map(({ uri }) => uri)

describe('the skills of a folder', () => {
  it('are those of each directory with a SKILL.md', async () => {
    await write({ ...BUNDLE, 'README.md': 'no skill', 'notes/todo.txt': 'no skill', 'git/SKILL.md': GIT })
    const { client, warnings } = await open()
    expect(await entriesOf(client)).toMatchObject([
      { uri: 'skill://acme/billing/refunds/SKILL.md' },
      { uri: 'skill://git/SKILL.md', resources: [{}] },
      {
        uri: 'skill://pdf-processing/SKILL.md',
        resources: [{}, { uri: 'skill://pdf-processing/assets/my%20logo.png' }, {}],
      },
    ])
    expect(warnings()).toEqual([])
  })

  it('are one skill if the folder itself is a skill', async () => {
    await write({ 'SKILL.md': GIT.replace('git', 'skills'), 'references/a.md': 'a' })
    const { client } = await open()
    expect(await urisOf(client)).toEqual(['skill://skills/SKILL.md'])
    expect(await client.readResource('skill://skills/references/a.md')).toMatchObject({ contents: [{ text: 'a' }] })
  })

  it('have no hidden files and no modules, unless `ignore` says otherwise', async () => {
    await write({ 'git/SKILL.md': GIT, 'git/.env': 'secret', 'git/.git/config': 'x', 'git/node_modules/x/y.js': 'x' })
    const { client } = await open()
    expect((await entriesOf(client))[0]?.resources).toHaveLength(1)
    await expect(client.readResource('skill://git/.env')).rejects.toMatchObject({ code: -32602 })
    const { client: all } = await open({ ignore: (path) => path === 'git/node_modules' })
    expect((await entriesOf(all))[0]?.resources.map(({ uri }) => uri)).toEqual([
      'skill://git/.env',
      'skill://git/.git/config',
      'skill://git/SKILL.md',
    ])
  })

  it('are hashed once', async () => {
    await write({ 'git/SKILL.md': GIT })
    const { client } = await open()
    expect(await urisOf(client)).toHaveLength(1)
    await write({ 'hg/SKILL.md': GIT.replace('git', 'hg') })
    expect(await urisOf(client)).toHaveLength(1)
  })

  it('are hashed again when a file that is read has changed', async () => {
    await write({ 'git/SKILL.md': GIT, 'git/a.md': 'a' })
    const { client } = await open()
    await urisOf(client)
    await write({ 'git/a.md': 'changed' })
    expect(await client.readResource('skill://git/a.md')).toMatchObject({ contents: [{ text: 'changed' }] })
    expect((await entriesOf(client))[0]?.resources[1]).toMatchObject({ size: 7 })
    await rm(join(folder, 'git/a.md'))
    await expect(client.readResource('skill://git/a.md')).rejects.toMatchObject({ code: -32602 })
  })

  it('may be named by a URL and by a link to the folder', async () => {
    await write({ 'git/SKILL.md': GIT })
    await symlink(folder, `${folder}-link`)
    for (const place of [pathToFileURL(folder), `${folder}-link`]) {
      const client = await connect(createServer(info, { extensions: [skills(place, { watch: false })] }))
      expect(await urisOf(client)).toEqual(['skill://git/SKILL.md'])
      expect(await client.readResource('skill://git/SKILL.md')).toMatchObject({ contents: [{ text: GIT }] })
    }
  })
})

describe('a folder', () => {
  it.each([
    [
      'that does not exist',
      './no such folder',
      /^skills: there is no folder ".*no such folder"; a path is relative to/,
    ],
    ['that is a file', fileURLToPath(import.meta.url), /there is no folder/],
    ['that is not a path', 5 as never, 'skills: expected the path of a folder or a URL, got number'],
  ])('%s is refused', (_, path, message) => {
    expect(() => skills(path)).toThrow(message)
  })

  it('with an unknown option is refused', () => {
    expect(() => skills(folder, { wacth: true } as never)).toThrow(
      'skills: there is no option "wacth"; did you mean "watch"?',
    )
  })
})

describe('files that are not served', () => {
  it.each<[string, () => Promise<unknown>, RegExp]>([
    ['a link to a file', () => symlink('/etc/hostname', join(folder, 'git/link')), /"git\/link" is a symbolic link/],
    ['a link to a directory', () => symlink('/etc', join(folder, 'git/etc')), /"git\/etc" is a symbolic link/],
    [
      'a link as SKILL.md',
      () => symlink('/etc/hostname', join(folder, 'git/x.md')),
      /is a symbolic link; replace it by/,
    ],
    [
      'a named pipe',
      async () => execFileSync('mkfifo', [join(folder, 'git/pipe')]),
      /"git\/pipe" is no regular file; replace it/,
    ],
    [
      'a file of 100 MB',
      async () => {
        await write({ 'git/big.bin': '' })
        await truncate(join(folder, 'git/big.bin'), 100_000_000)
      },
      /"git\/big.bin": expected at most 16777216 bytes \(16 MiB\), got 100000000/,
    ],
    [
      'a SKILL.md of 100 MB',
      () => truncate(join(folder, 'git/SKILL.md'), 100_000_000),
      /"git\/SKILL.md": expected at most 16777216 bytes/,
    ],
    [
      '10,000 files',
      async () => {
        for (let n = 0; n < 10_000; n += 1) await writeFile(join(folder, `git/${n}`), '')
      },
      /^skill "git": expected at most 512 files, got 10001/,
    ],
    [
      'a directory that is too deep',
      () => write({ [`git/${'d/'.repeat(20)}x`]: '' }),
      /has directories that are nested deeper than 16 levels; pass the folder/,
    ],
  ])('are reported: %s', async (_, prepare, message) => {
    await write({ 'git/SKILL.md': GIT, 'hg/SKILL.md': GIT.replace('git', 'hg') })
    await prepare()
    const onError = vi.fn<(error: unknown) => void>()
    const client = await connect(createServer(info, { extensions: [skills(folder, { watch: false })], onError }))
    await expect.poll(() => String(onError.mock.calls[0]?.[0])).toMatch(new RegExp(message.source.replace('^', '')))
    await urisOf(client).then(
      (uris) => expect(uris).toEqual(['skill://hg/SKILL.md']),
      () => {},
    )
  })

  it('are those of a link to a whole skill', async () => {
    await write({ 'git/SKILL.md': GIT })
    await mkdir(join(dirname(folder), 'hg'))
    await writeFile(join(dirname(folder), 'hg/SKILL.md'), GIT.replace('git', 'hg'))
    await symlink(join(dirname(folder), 'hg'), join(folder, 'hg'))
    const { client, warnings } = await open()
    expect(await urisOf(client)).toEqual(['skill://git/SKILL.md'])
    expect(warnings()).toEqual(['skills: "hg/SKILL.md" is a symbolic link; replace it by the files themselves'])
  })

  it('are those that a link has replaced, also on the way to them', async () => {
    await write({ 'git/SKILL.md': GIT, 'git/a.md': 'a', 'git/dir/b.md': 'b' })
    const { client } = await open()
    await urisOf(client)
    await writeFile(join(dirname(folder), 'b.md'), 'b')
    await rm(join(folder, 'git/a.md'))
    await symlink('/etc/hostname', join(folder, 'git/a.md'))
    await rename(join(folder, 'git/dir'), join(dirname(folder), 'dir'))
    await symlink(join(dirname(folder), 'dir'), join(folder, 'git/dir'))
    await expect(client.readResource('skill://git/dir/b.md')).rejects.toMatchObject({ code: -32602 })
    await expect(client.readResource('skill://git/a.md')).rejects.toMatchObject({ code: -32602 })
  })
})

describe('watch', () => {
  it('reads changed skills again and notifies clients', async () => {
    await write({ 'git/SKILL.md': GIT })
    const { server, client, warnings } = await open({ watch: true })
    const stream = client.listen({ resourcesListChanged: true })
    await stream.ready
    expect(await urisOf(client)).toHaveLength(1)
    await write({ 'hg/SKILL.md': GIT.replace('git', 'hg') })
    await stream.next()
    await expect.poll(() => urisOf(client)).toEqual(['skill://git/SKILL.md', 'skill://hg/SKILL.md'])
    await write({ 'hg/deep/er/a.md': 'a' })
    await expect.poll(async () => (await entriesOf(client))[1]?.resources).toHaveLength(2)
    await write({ 'git/SKILL.md': 'broken' })
    await expect.poll(() => urisOf(client)).toEqual(['skill://hg/SKILL.md'])
    expect(warnings()).toEqual([expect.stringMatching(/^skill "git": SKILL.md: expected a line/)])
    await write({ 'git/SKILL.md': GIT })
    await expect.poll(() => urisOf(client)).toHaveLength(2)
    await rm(join(folder, 'hg'), { recursive: true })
    await expect.poll(() => urisOf(client)).toEqual(['skill://git/SKILL.md'])
    server.close()
    await client.close()
  })

  it.each([
    ['production', 1],
    ['development', 2],
  ])('has a default that depends on NODE_ENV: %s', async (environment, count) => {
    await write({ 'git/SKILL.md': GIT })
    vi.stubEnv('NODE_ENV', environment)
    const server = createServer(info, { extensions: [skills(folder)] })
    vi.unstubAllEnvs()
    const client = await connect(server)
    expect(await urisOf(client)).toHaveLength(1)
    await write({ 'hg/SKILL.md': GIT.replace('git', 'hg') })
    // Changes are noticed within some ms.
    await new Promise((resolve) => setTimeout(resolve, 300))
    await expect.poll(() => urisOf(client)).toHaveLength(count)
    server.close()
    await client.close()
  })

  it('continues when the folder is removed and created again, and when it is replaced', async () => {
    await write({ 'one/SKILL.md': GIT.replace('git', 'one') })
    const { server, client } = await open({ watch: true })
    const listed = () => expect.poll(() => urisOf(client), { timeout: 5_000 })
    await listed().toEqual(['skill://one/SKILL.md'])
    await rm(folder, { recursive: true })
    await new Promise((resolve) => setTimeout(resolve, 100))
    await write({ 'two/SKILL.md': GIT.replace('git', 'two') })
    await listed().toEqual(['skill://two/SKILL.md'])
    await write({ 'three/SKILL.md': GIT.replace('git', 'three') })
    await listed().toHaveLength(2)
    await rename(folder, `${folder}-old`)
    await write({ 'four/SKILL.md': GIT.replace('git', 'four') })
    await listed().toEqual(['skill://four/SKILL.md'])
    await rm(`${folder}-old`, { recursive: true })
    server.close()
    await client.close()
  })

  it('is a warning if it fails', async () => {
    const onWarning = vi.fn<(warning: Error) => void>()
    const stop = new Folder(`${folder}\0nothing`, () => false).watch(() => {}, onWarning)
    await expect
      .poll(() => onWarning.mock.calls.map(([{ message }]) => message))
      .toEqual([expect.stringMatching(/^skills: the folder ".*" cannot be watched; restart the server after changes/)])
    stop()
  })

  it('does not keep the process alive', async () => {
    await write({ 'git/SKILL.md': GIT })
    const program = `
      import { createServer } from '@mcpx/server'
      import { skills } from ${JSON.stringify(new URL('skills.ts', import.meta.url).href)}
      createServer({ name: 'desk', version: '1' }, { extensions: [skills(${JSON.stringify(folder)}, { watch: true })] })`
    const child = spawn(process.execPath, ['--conditions', 'source', '--input-type=module', '-e', program], {
      cwd: dirname(fileURLToPath(import.meta.url)),
      stdio: 'inherit',
    })
    expect(await once(child, 'exit')).toEqual([0, null])
  })
})

describe('bundleSkills', () => {
  it('creates an object that serves the same skills after it was JSON', async () => {
    await write({
      ...BUNDLE,
      'README.md': 'no skill',
      'git/SKILL.md': '\uFEFF---\r\nname: git\r\ndescription: x\r\n---\r\n',
    })
    const bundle = JSON.parse(JSON.stringify(await bundleSkills(folder)))
    expect(bundle).not.toHaveProperty(['README.md'])
    expect(bundle['pdf-processing/assets/my logo.png']).toEqual({ base64: 'iVBOR/8=' })
    const { client } = await open()
    const client2 = await connect(createServer(info, { extensions: [bundledSkills(bundle)] }))
    expect(await entriesOf(client2)).toEqual(await entriesOf(client))
  })

  it('rejects with all faults, so that a build fails', async () => {
    await write({ 'git/SKILL.md': GIT, 'a/SKILL.md': 'x', 'b/SKILL.md': GIT })
    await expect(bundleSkills(folder)).rejects.toThrow(
      /^skill "a": .*\nskill "b": SKILL.md: frontmatter.name: expected "b"/,
    )
    await expect(bundleSkills('./nothing')).rejects.toThrow(/^bundleSkills: there is no folder/)
  })
})
