import { type Client, connect } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { describe, expect, it, vi } from 'vitest'
import { SkillError, type SkillSource, type SkillsOptions, skills } from './index.ts'
import { BUNDLE, PDF_SKILL, REFUNDS_SKILL, sha256 } from './skills.fixture.ts'

const info = { name: 'desk', version: '1.0.0' }

function open(options: SkillsOptions = {}, source: Parameters<typeof skills>[0] = BUNDLE, era?: 'legacy' | 'modern') {
  return connect(createServer(info, { extensions: [skills(source, options)] }), { era, onWarning: fail })
}

function fail(problem: Error): void {
  throw problem
}

/** A source whose files tests can change. */
function createSource(files: Record<string, string>) {
  const listeners = new Set<() => void>()
  const source: SkillSource = {
    list: () => Object.keys(files),
    read: async (path) => files[path],
    watch(onChange) {
      listeners.add(onChange)
      return () => listeners.delete(onChange)
    },
  }
  return { source, files, listeners, change: () => listeners.forEach((listener) => void listener()) }
}

async function urisOf(client: Client): Promise<unknown[]> {
  const { skills } = await client.request('skills/list')
  return (skills as { uri: string }[]).map(({ uri }) => uri)
}

describe.each(['modern', 'legacy'] as const)('skills in the %s era', (era) => {
  it('are declared, beside resources', async () => {
    await using client = await open({}, BUNDLE, era)
    expect(client.server.capabilities).toMatchObject({
      extensions: { 'io.modelcontextprotocol/skills': { directoryRead: true } },
      resources: { listChanged: true },
    })
  })

  it('are listed with all files, their hashes and their sizes', async () => {
    await using client = await open({}, BUNDLE, era)
    const result = await client.request('skills/list')
    expect(result.skills).toEqual([
      {
        uri: 'skill://acme/billing/refunds/SKILL.md',
        frontmatter: {
          name: 'refunds',
          description: 'Refund an order: when, and how much',
          license: 'MIT',
          metadata: { owner: 'billing' },
        },
        resources: [
          {
            uri: 'skill://acme/billing/refunds/SKILL.md',
            digest: sha256(REFUNDS_SKILL),
            size: REFUNDS_SKILL.length,
          },
        ],
      },
      {
        uri: 'skill://pdf-processing/SKILL.md',
        frontmatter: { name: 'pdf-processing', description: 'Extract, fill, and assemble PDF documents' },
        resources: [
          { uri: 'skill://pdf-processing/SKILL.md', digest: sha256(PDF_SKILL), size: PDF_SKILL.length },
          {
            uri: 'skill://pdf-processing/assets/my%20logo.png',
            digest: sha256(BUNDLE['pdf-processing/assets/my logo.png']),
            size: 5,
          },
          { uri: 'skill://pdf-processing/references/FORMS.md', digest: sha256('Forms are fun.\r\n'), size: 16 },
        ],
      },
    ])
    expect('ttlMs' in result).toBe(era === 'modern')
  })

  it('are returned by their URIs, in any spelling of it', async () => {
    await using client = await open({}, BUNDLE, era)
    const { skill } = await client.request('skills/get', { uri: 'SKILL://pdf%2Dprocessing/SKILL.md' })
    expect(skill).toMatchObject({ uri: 'skill://pdf-processing/SKILL.md' })
  })

  it.each([
    'skill://nobody/SKILL.md',
    'skill://pdf-processing/references/FORMS.md',
    'skill://pdf-processing',
    'skill://acme/../pdf-processing/SKILL.md',
    'skill://acme%2Fbilling/refunds/SKILL.md',
    'skill://pdf-processing/SKILL.md%00',
    'skill://pdf-processing//SKILL.md',
    'skill://pdf-processing/SKILL.md?',
    'skill://pdf-processing/%',
    'PDF-PROCESSING/SKILL.md',
    '',
  ])('refuse %j as the URI of a skill', async (uri) => {
    await using client = await open({}, BUNDLE, era)
    await expect(client.request('skills/get', { uri })).rejects.toMatchObject({ code: -32602 })
  })

  it('refuse parameters of other types', async () => {
    await using client = await open({}, BUNDLE, era)
    await expect(client.request('skills/get', {})).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('params.uri'),
    })
    await expect(client.request('skills/list', { cursor: 5 })).rejects.toMatchObject({ code: -32602 })
    await expect(client.request('skills/list', { cursor: 'x' })).rejects.toMatchObject({
      code: -32602,
      message: 'Invalid cursor: it does not belong to this list; request the list without a cursor',
    })
  })

  it('send their files byte for byte', async () => {
    const bom = '\uFEFF---\r\nname: bom\r\ndescription: x\r\n---\r\nText\r\n'
    await using client = await open({}, { ...BUNDLE, 'bom/SKILL.md': bom }, era)
    const read = async (uri: string) => (await client.readResource(uri)).contents
    expect(await read('skill://bom/SKILL.md')).toEqual([
      { uri: 'skill://bom/SKILL.md', mimeType: 'text/markdown', text: bom },
    ])
    expect(await read('skill://pdf-processing/references/FORMS.md')).toMatchObject([{ text: 'Forms are fun.\r\n' }])
    expect(await read('skill://pdf-processing/assets/my%20logo.png')).toEqual([
      { uri: 'skill://pdf-processing/assets/my%20logo.png', mimeType: 'image/png', blob: 'iVBOR/8=' },
    ])
    await expect(read('skill://pdf-processing/nothing.md')).rejects.toMatchObject({
      code: era === 'modern' ? -32602 : -32002,
    })
  })

  it('list their directories', async () => {
    await using client = await open({}, BUNDLE, era)
    const list = async (uri: string) => (await client.request('resources/directory/read', { uri })).resources
    expect(await list('skill://pdf-processing')).toEqual([
      {
        uri: 'skill://pdf-processing/SKILL.md',
        name: 'pdf-processing',
        description: 'Extract, fill, and assemble PDF documents',
        mimeType: 'text/markdown',
        size: PDF_SKILL.length,
      },
      { uri: 'skill://pdf-processing/assets', name: 'assets', mimeType: 'inode/directory' },
      { uri: 'skill://pdf-processing/references', name: 'references', mimeType: 'inode/directory' },
    ])
    expect(await list('skill://pdf-processing/assets')).toEqual([
      { uri: 'skill://pdf-processing/assets/my%20logo.png', name: 'my logo.png', mimeType: 'image/png', size: 5 },
    ])
    for (const uri of [
      'skill://pdf-processing/',
      'skill://pdf-processing/SKILL.md',
      'skill://pdf-proc',
      'skill://pdf-processing/../pdf-processing',
      'skill://acme',
      'skill:',
    ]) {
      await expect(list(uri), uri).rejects.toMatchObject({ code: -32602 })
    }
  })

  it('are listed beside the resources of the server, which precede them', async () => {
    const server = createServer(info, { extensions: [skills(BUNDLE)] })
      .resource('config://app', {}, 'own')
      .resource('skill://pdf-processing/SKILL.md', { name: 'mine' }, 'own, too')
    await using client = await connect(server, { era })
    const resources = await client.listResources().all()
    expect(resources.map(({ name }) => name)).toEqual(['config://app', 'mine', 'refunds'])
    expect(await client.readResource('skill://pdf-processing/SKILL.md')).toMatchObject({
      contents: [{ text: 'own, too' }],
    })
  })

  it('are read again after a change, which clients are notified of', async () => {
    const { source, files, change } = createSource({ 'git/SKILL.md': '---\nname: git\ndescription: one\n---\n' })
    const changes: unknown[] = []
    const server = createServer(info, { extensions: [skills(source)] })
    await using client = await connect(server, { era, onChange: (each) => changes.push(each) })
    const stream = client.listen({ resourcesListChanged: true })
    await stream.ready
    expect(await urisOf(client)).toEqual(['skill://git/SKILL.md'])
    files['hg/SKILL.md'] = '---\nname: hg\ndescription: two\n---\n'
    change()
    expect((await stream.next()).value).toEqual({ kind: 'resources' })
    expect(await urisOf(client)).toEqual(['skill://git/SKILL.md', 'skill://hg/SKILL.md'])
    stream.close()
  })
})

it('skills are resources only in revisions without extensions', async () => {
  await using client = await connect(createServer(info, { extensions: [skills(BUNDLE)] }), { era: '2025-06-18' })
  expect(client.server.capabilities).not.toHaveProperty('extensions')
  await expect(client.request('skills/list')).rejects.toMatchObject({ code: -32601 })
  expect((await client.listResources().all()).map(({ name }) => name)).toEqual(['refunds', 'pdf-processing'])
})

describe('a file that has changed since it was hashed', () => {
  it('is sent only with an entry that is true for it, and clients are notified', async () => {
    const { source, files } = createSource({ 'git/SKILL.md': '---\nname: git\ndescription: one\n---\n' })
    const server = createServer(info, { extensions: [skills(source)] })
    await using client = await connect(server)
    const stream = client.listen({ resourcesListChanged: true })
    await stream.ready
    await client.request('skills/list')
    const changed = '---\nname: git\ndescription: two\n---\n'
    files['git/SKILL.md'] = changed
    const read = await client.readResource('skill://git/SKILL.md')
    expect(read.contents).toMatchObject([{ text: changed }])
    expect((await stream.next()).value).toEqual({ kind: 'resources' })
    const { skill } = await client.request('skills/get', { uri: 'skill://git/SKILL.md' })
    expect(skill).toMatchObject({ frontmatter: { description: 'two' }, resources: [{ digest: sha256(changed) }] })
    stream.close()
  })

  it('is not found if it was removed, and an error if it changes all the time', async () => {
    const { source, files } = createSource({
      'git/SKILL.md': '---\nname: git\ndescription: one\n---\n',
      'git/a.md': 'a',
      'git/b.md': 'b',
    })
    let reads = 0
    const flickering = { ...source, read: async (path: string) => (path === 'git/b.md' ? `${++reads}` : files[path]) }
    const onError = vi.fn()
    const server = createServer(info, { extensions: [skills(flickering)], onError })
    await using client = await connect(server)
    await client.request('skills/list')
    delete files['git/a.md']
    await expect(client.readResource('skill://git/a.md')).rejects.toMatchObject({ code: -32602 })
    await expect(client.readResource('skill://git/b.md')).rejects.toMatchObject({ code: -32603 })
    expect(onError.mock.calls[0]?.[0].message).toBe(
      'skills: "git/b.md" changes while it is read; write it elsewhere, then move it',
    )
  })
})

describe('a source that fails', () => {
  it('fails the request, is reported, and is tried again', async () => {
    const { source } = createSource({ 'git/SKILL.md': '---\nname: git\ndescription: one\n---\n' })
    const list = vi.fn(source.list).mockRejectedValueOnce(new Error('the database is asleep'))
    const onError = vi.fn()
    const server = createServer(info, { extensions: [skills({ ...source, list })], onError })
    await using client = await connect(server)
    await expect(client.request('skills/list')).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Internal error/),
    })
    expect(String(onError.mock.calls[0]?.[0])).toBe('Error: the database is asleep')
    expect(await urisOf(client)).toEqual(['skill://git/SKILL.md'])
  })

  it('keeps the last known skills when it cannot be read again', async () => {
    const { source, change } = createSource({ 'git/SKILL.md': '---\nname: git\ndescription: one\n---\n' })
    const list = vi.fn(source.list)
    const onWarning = vi.fn()
    const server = createServer(info, { extensions: [skills({ ...source, list }, { onWarning })] })
    await using client = await connect(server)
    await client.request('skills/list')
    list.mockRejectedValueOnce(new Error('the database is asleep'))
    change()
    await expect.poll(() => onWarning.mock.calls.length).toBe(1)
    expect(onWarning.mock.calls[0]?.[0]).toMatchObject({
      message: expect.stringMatching(/last known ones/),
      cause: { message: expect.stringMatching(/asleep/) },
    })
    expect(await urisOf(client)).toEqual(['skill://git/SKILL.md'])
  })

  it('is read again once, however many changed files are read at the same time', async () => {
    const changing = { 'git/SKILL.md': '---\nname: git\ndescription: one\n---\n', 'git/a.md': 'a' }
    const { source, files } = createSource(changing)
    const list = vi.fn(source.list)
    await using client = await open({}, { ...source, list })
    await client.request('skills/list')
    files['git/a.md'] = 'changed'
    await Promise.all(Array.from({ length: 20 }, () => client.readResource('skill://git/a.md', { fresh: true })))
    expect(list.mock.calls.length).toBeLessThanOrEqual(3)
  })

  it('that failed at first is read after a change', async () => {
    const { source, change } = createSource({ 'git/SKILL.md': '---\nname: git\ndescription: one\n---\n' })
    const list = vi.fn(source.list).mockRejectedValueOnce(new Error('asleep'))
    const server = createServer(info, { extensions: [skills({ ...source, list })], onError: () => {} })
    await using client = await connect(server)
    await expect(client.request('skills/list')).rejects.toMatchObject({ code: -32603 })
    change()
    await expect.poll(() => list.mock.calls.length).toBeGreaterThan(1)
    expect(await urisOf(client)).toHaveLength(1)
  })

  it('may throw in its callbacks', async () => {
    const onWarning = () => {
      throw new Error('the log is full')
    }
    const onError = vi.fn()
    const files = { 'a/SKILL.md': 'x', 'b/SKILL.md': '---\nname: b\ndescription: x\n---\n' }
    await using client = await connect(createServer(info, { extensions: [skills(files, { onWarning })], onError }))
    expect(await urisOf(client)).toEqual(['skill://b/SKILL.md'])
    expect(onError.mock.calls[0]?.[0].message).toBe('the log is full')
  })

  it('is followed until the server is closed', async () => {
    const { source, listeners } = createSource({})
    const server = createServer(info, { extensions: [skills(source)] })
    expect(listeners.size).toBe(1)
    server.close()
    expect(listeners.size).toBe(0)
  })
})

describe('visible', () => {
  const visible: SkillsOptions['visible'] = ({ frontmatter }, auth) =>
    frontmatter.name !== 'refunds' || auth?.scopes.includes('billing')

  it('hides skills, their files and their directories from other callers', async () => {
    const server = createServer(info, { extensions: [skills(BUNDLE, { visible, cache: { cacheScope: 'public' } })] })
    const refused = { code: -32602 }
    await using client = await connect(server)
    const result = await client.request('skills/list')
    expect(result).toMatchObject({ cacheScope: 'private', skills: [{ frontmatter: { name: 'pdf-processing' } }] })
    expect((await client.listResources().all()).map(({ name }) => name)).toEqual(['pdf-processing'])
    const uri = 'skill://acme/billing/refunds/SKILL.md'
    await expect(client.request('skills/get', { uri })).rejects.toMatchObject(refused)
    await expect(client.readResource(uri)).rejects.toMatchObject(refused)
    await expect(
      client.request('resources/directory/read', { uri: 'skill://acme/billing/refunds' }),
    ).rejects.toMatchObject(refused)
  })

  it('shows them to callers whom it accepts, and to nobody with a promise', async () => {
    const auth = { token: 't', clientId: 'c', scopes: ['billing'] }
    const handlerOf = (option: SkillsOptions['visible']) =>
      createServer(info, { extensions: [skills(BUNDLE, { visible: option })] }).handler
    const list = async (option: SkillsOptions['visible']) => {
      const result = await handlerOf(option).listResources?.({}, { auth } as never)
      return result?.resources.map(({ name }) => name)
    }
    expect(await list(visible)).toEqual(['refunds', 'pdf-processing'])
    expect(await list((async () => true) as never)).toEqual([])
  })

  it('shows a nested skill as a part of a visible outer one', async () => {
    const nested = {
      'outer/SKILL.md': '---\nname: outer\ndescription: x\n---\n',
      'outer/inner/SKILL.md': '---\nname: inner\ndescription: y\n---\n',
    }
    await using client = await open({ visible: ({ frontmatter }) => frontmatter.name === 'outer' }, nested)
    expect(await urisOf(client)).toEqual(['skill://outer/SKILL.md'])
    expect(await client.readResource('skill://outer/inner/SKILL.md')).toMatchObject({
      contents: [{ text: expect.stringMatching(/inner/) }],
    })
    await expect(client.request('skills/get', { uri: 'skill://outer/inner/SKILL.md' })).rejects.toMatchObject({
      code: -32602,
    })
  })
})

describe('pages', () => {
  const many = Object.fromEntries(
    Array.from({ length: 7 }, (_, n) => [`s${n}/SKILL.md`, `---\nname: s${n}\ndescription: x\n---\n`]),
  )

  it('contain each skill once, and stay valid when skills are removed', async () => {
    const { source, files, change } = createSource({ ...many })
    await using client = await open({ pageSize: 3 }, source)
    const first = await client.request('skills/list')
    expect(first.skills).toHaveLength(3)
    delete files['s2/SKILL.md']
    change()
    await expect.poll(async () => (await urisOf(client)).at(-1)).toBe('skill://s3/SKILL.md')
    const second = await client.request('skills/list', { cursor: first.nextCursor as string })
    expect(second.skills).toMatchObject([{ uri: 'skill://s3/SKILL.md' }, {}, { uri: 'skill://s5/SKILL.md' }])
    const third = await client.request('skills/list', { cursor: second.nextCursor as string })
    expect(third.skills).toHaveLength(1)
    expect(third.nextCursor).toBeUndefined()
    expect(await client.listResources().all()).toHaveLength(6)
  })
})

describe('the cache hints', () => {
  it('are those of the option, or not cacheable', async () => {
    const hints = async (options: SkillsOptions) => {
      await using client = await open(options)
      const uri = 'skill://pdf-processing/SKILL.md'
      const results = [
        await client.request('skills/list'),
        await client.request('skills/get', { uri }),
        await client.readResource(uri),
      ]
      return results.map(({ ttlMs, cacheScope }) => [ttlMs, cacheScope])
    }
    expect(await hints({})).toEqual(Array(3).fill([0, 'private']))
    expect(await hints({ cache: { ttlMs: 5_000, cacheScope: 'public' } })).toEqual(Array(3).fill([5_000, 'public']))
  })
})

describe('the options', () => {
  it.each([
    [
      () => skills('./skills' as never),
      /^skills: expected files by path, .* got string; for a folder, import `skills` from "@mcpx\/skills\/node"$/,
    ],
    [() => skills(new URL('file:///skills') as never), /for a folder/],
    [
      () => skills({ 'a/SKILL.md': 5 as never }),
      'skills: "a/SKILL.md": expected a string, bytes or { base64 }, got number',
    ],
    [() => skills({ 'a/SKILL.md': { base64: '§' } }), /got an object without Base64$/],
    [() => skills({}, { visble: () => true } as never), 'skills: there is no option "visble"; did you mean "visible"?'],
    [
      () => createServer(info, { extensions: [skills({}, { pageSize: 0 })] }),
      /pageSize: expected an integer of 1 or more, got 0$/,
    ],
  ])('are checked (%#)', (run, message) => {
    expect(run).toThrow(message)
  })

  it('accept bytes, buffers, Base64, and the paths of import maps', async () => {
    const text = '---\nname: a\ndescription: x\n---\n'
    await using client = await open(
      {},
      { './a/SKILL.md': new TextEncoder().encode(text), 'a/b': Uint8Array.of(1).buffer, 'a/c': { base64: 'Ag==' } },
    )
    const { skills: entries } = await client.request('skills/list')
    expect(entries).toMatchObject([
      { resources: [{ digest: sha256(text) }, { digest: sha256('\x01') }, { digest: sha256('\x02') }] },
    ])
  })
})

describe('skills that cannot be served', () => {
  const valid = '---\nname: a\ndescription: x\n---\n'
  const frontmatter = (yaml: string) => ({ 'a/SKILL.md': `---\n${yaml}\n---\n` })
  const files = (count: number, content = 'x') => ({
    'a/SKILL.md': valid,
    ...Object.fromEntries(Array.from({ length: count }, (_, n) => [`a/${n}`, content])),
  })
  const MiB = 'x'.repeat(1024 * 1024)

  it.each<[string, Parameters<typeof skills>[0], string | RegExp]>([
    ['without frontmatter', { 'a/SKILL.md': '# Title' }, /SKILL.md: expected a line `---`, then YAML/],
    ['whose frontmatter has no end', { 'a/SKILL.md': '---\nname: a\n' }, /has no line `---` at its end$/],
    ['that are not text', { 'a/SKILL.md': Uint8Array.of(0xff) }, /expected UTF-8 text$/],
    ['with another name', frontmatter('name: b\ndescription: x'), /expected "a", the name of the directory, got "b"$/],
    [
      'with a wrong name',
      { 'A/SKILL.md': '---\nname: A\ndescription: x\n---' },
      /1 to 64 lower-case letters .* got "A"$/,
    ],
    ['without a name', frontmatter('description: x'), /frontmatter.name: expected string, got nothing$/],
    [
      'without a description',
      frontmatter('name: a\ndescription: ""'),
      /description: expected a sentence .* an empty string$/,
    ],
    [
      'with a reserved key',
      frontmatter('name: a\ndescription: x\nmetadata: {io.modelcontextprotocol/x: 1}'),
      /reserved/,
    ],
    ['with invalid YAML', frontmatter('name: a\ndescription: x: y'), /at line 3, column 14; write values that contain/],
    ['with a path of ".."', { ...files(1), 'a/../b': 'x' }, /path "a\/..\/b": expected names without/],
    ['with a NUL in a path', { ...files(1), 'a/\0': 'x' }, /path "a\/\\u0000"/],
    ['with a backslash in a path', { ...files(1), 'a/b\\c': 'x' }, /path "a\/b\\\\c"/],
    ['with an empty name', { ...files(1), 'a//b': 'x' }, /path "a\/\/b"/],
    ['with half of a character in a path', { ...files(1), 'a/\ud800': 'x' }, /separated by "\/"/],
    [
      'with a path that is too long',
      { ...files(1), [`a/${'x'.repeat(9_000)}`]: 'x' },
      /URI of at most 8192 characters/,
    ],
    [
      'with paths that differ in case only',
      { ...files(1), 'a/b.md': 'x', 'a/B.md': 'y' },
      /"a\/b.md": differs from "a\/B.md" in case/,
    ],
    [
      'with paths that differ in Unicode form only',
      { ...files(1), 'a/\u00e9.md': 'x', 'a/e\u0301.md': 'y' },
      /differs from ".*" in case or Unicode form only/,
    ],
    ['with another spelling of SKILL.md', { 'a/skill.md': valid }, /SKILL.md: expected a file of exactly this name$/],
    ['with 513 files', files(512), /expected at most 512 files, got 513; remove files/],
    ['with 17 MiB', files(17, MiB), /expected at most 16777216 bytes \(16 MiB\), got 1\d+/],
  ])('are those %s', async (_, source, message) => {
    const onWarning = vi.fn()
    const others = { 'z/SKILL.md': '---\nname: z\ndescription: x\n---\n' }
    await using client = await open({ onWarning }, { ...source, ...others })
    expect(await urisOf(client)).toEqual(['skill://z/SKILL.md'])
    expect(onWarning).toHaveBeenCalledOnce()
    const [warning] = onWarning.mock.calls[0] as [SkillError]
    expect(warning).toBeInstanceOf(SkillError)
    expect(warning.message).toMatch(message)
    expect(warning.message).toMatch(/^skill "[aA]": /)
  })

  it('are those with another spelling of SKILL.md, also in a source that ignores case', async () => {
    const onWarning = vi.fn()
    const source = { list: () => ['a/skill.md'], read: () => valid }
    await using client = await connect(createServer(info, { extensions: [skills(source, { onWarning })] }))
    expect(await urisOf(client)).toEqual([])
    expect(onWarning.mock.calls[0]?.[0].message).toMatch(/SKILL.md: expected a file of exactly this name$/)
  })

  it('are those in no directory', async () => {
    const onWarning = vi.fn()
    await using client = await open({ onWarning }, { 'SKILL.md': valid })
    expect(await urisOf(client)).toEqual([])
    expect(onWarning.mock.calls[0]?.[0].message).toBe('skill "": SKILL.md: expected a file of exactly this name')
  })

  it('go to onError of the server by default', async () => {
    const onError = vi.fn()
    await using client = await connect(createServer(info, { extensions: [skills({ 'a/SKILL.md': 'x' })], onError }))
    expect(await urisOf(client)).toEqual([])
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ reason: 'invalid-skill' })
  })

  it('do not include one with 512 files, 16 MiB and %2F in a name', async () => {
    const onWarning = vi.fn()
    const size = MiB.length / 32
    const all = { ...files(510, MiB.slice(0, size)), 'a/x%2Fy': 'z' }
    await using client = await open({ onWarning }, all)
    expect(await urisOf(client)).toHaveLength(1)
    expect(onWarning).not.toHaveBeenCalled()
    expect(await client.readResource('skill://a/x%252Fy')).toMatchObject({ contents: [{ text: 'z' }] })
    await expect(client.readResource('skill://a/x%2Fy')).rejects.toMatchObject({ code: -32602 })
  })
})
