import { connect } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { describe, expect, it, vi } from 'vitest'
import { skills as serveSkills } from '../index.ts'
import { SKILLS_EXTENSION, type Skill, SkillError, type SkillResource } from '../skill.ts'
import { BUNDLE, entryOf, PDF_SKILL, sha256 } from '../skills.fixture.ts'
import { createMemoryCache, type SkillsClientOptions, type SkillsConnection, skills } from './library.ts'

const info = { name: 'desk', version: '1.0.0' }
const FORMS = 'Forms are fun.\r\n'
const files = { 'pdf-processing/SKILL.md': PDF_SKILL, 'pdf-processing/references/FORMS.md': FORMS }
const frontmatter = { name: 'pdf-processing', description: 'Extract, fill, and assemble PDF documents' }
const entry = entryOf(files, frontmatter)
const [skillFile] = entry.resources as [SkillResource]
const FORMS_URI = 'skill://pdf-processing/references/FORMS.md'

/** A server that answers with these results, and that records the requests. */
function createPeer(results: Readonly<Record<string, unknown>>, settings: unknown = {}) {
  const requests: string[] = []
  const connection: SkillsConnection = {
    server: { capabilities: { extensions: { [SKILLS_EXTENSION]: settings } } },
    async request(method, params) {
      requests.push([method, params.uri, params.cursor].filter((each) => each !== undefined).join(' '))
      const key = [`${method} ${params.cursor ?? params.uri}`, method].find((each) => each in results) ?? ''
      return results[key] as never
    },
  }
  return { requests, connection }
}

/** A server that promises one entry and sends these contents. */
function createLiar(contents: Readonly<Record<string, object>>, skill: unknown = entry, options?: SkillsClientOptions) {
  const results = Object.entries(contents).map(([uri, each]) => [
    `resources/read ${uri}`,
    { contents: [{ uri, ...each }] },
  ])
  const peer = createPeer({ 'skills/list': { skills: [skill] }, ...Object.fromEntries(results) })
  return { ...peer, library: skills(peer.connection, options) }
}

describe.each(['modern', 'legacy'] as const)('a library of a real server in the %s era', (era) => {
  const connectTo = (...args: Parameters<typeof serveSkills>) =>
    connect(createServer(info, { extensions: [serveSkills(...args)] }), { era })

  it('lists, gets and reads skills, with verified files', async () => {
    await using client = await connectTo({ ...BUNDLE, 'pdf-processing/100%.md': 'all', 'pdf-processing/a#b.md': 'x' })
    const library = skills(client)
    const [refunds, pdf] = (await library.list()) as [Skill, Skill]
    expect(refunds.frontmatter.name).toBe('refunds')
    expect(await library.get('skill://pdf-processing/SKILL.md')).toEqual(pdf)
    expect(await library.read(pdf)).toMatchObject({
      uri: 'skill://pdf-processing/SKILL.md',
      text: PDF_SKILL,
      body: '\nRead references/FORMS.md first.\n',
      mimeType: 'text/markdown',
      isVerified: true,
    })
    const expected: [string, string][] = [
      ['references/FORMS.md', FORMS],
      ['./references/FORMS.md', FORMS],
      ['references/FORMS.md#top', FORMS],
      ['references/F%4FRMS.md', FORMS],
      [FORMS_URI, FORMS],
      ['100%.md', 'all'],
      ['100%25.md', 'all'],
      ['a#b.md', 'x'],
    ]
    for (const [reference, text] of expected) {
      expect(await library.read(pdf, reference), reference).toMatchObject({ text, body: undefined })
    }
    const logo = await library.read(pdf, 'assets/my%20logo.png')
    expect(logo).toMatchObject({ text: undefined, mimeType: 'image/png' })
    expect([...logo.bytes]).toEqual([...BUNDLE['pdf-processing/assets/my logo.png']])
    expect(await library.read(pdf, 'assets/my logo.png')).toEqual(logo)
  })

  it('reads directories, if the server lists them', async () => {
    await using client = await connectTo(BUNDLE)
    const children = await skills(client).readDirectory('skill://pdf-processing')
    expect(children.map(({ name, mimeType }) => [name, mimeType])).toEqual([
      ['pdf-processing', 'text/markdown'],
      ['assets', 'inode/directory'],
      ['references', 'inode/directory'],
    ])
    await expect(skills(client).readDirectory('skill://pdf-processing/')).rejects.toThrow(/without a slash at its end/)
    await expect(skills(client).readDirectory('skill://nothing')).rejects.toMatchObject({ code: -32602 })
    const { connection } = createPeer({})
    await expect(skills(connection).readDirectory('skill://pdf-processing')).rejects.toMatchObject({
      reason: 'unsupported',
    })
  })

  it('names skills that do not exist, and servers without skills', async () => {
    await using client = await connectTo(BUNDLE)
    await expect(skills(client).get('skill://nobody/SKILL.md')).rejects.toMatchObject({
      reason: 'not-found',
      message: 'The server has no skill "skill://nobody/SKILL.md"',
    })
    await expect(skills(client).get('skill://nobody')).rejects.toThrow('get(uri): expected the URI of a SKILL.md')
    await using plain = await connect(
      createServer(info).tool('x', {}, () => 'y'),
      { era },
    )
    const error = {
      reason: 'unsupported',
      message: expect.stringMatching(/does not declare io.modelcontextprotocol\/skills$/),
    }
    await expect(skills(plain).list()).rejects.toMatchObject(error)
    await expect(skills(plain).read(entry)).rejects.toMatchObject(error)
  })

  it('gets a new entry and its file after a change', async () => {
    const changing = { 'git/SKILL.md': '---\nname: git\ndescription: one\n---\n' }
    const source = { list: () => Object.keys(changing), read: async () => changing['git/SKILL.md'] }
    await using client = await connectTo(source, { cache: { ttlMs: 60_000 } })
    const library = skills(client)
    const old = await library.get('skill://git/SKILL.md')
    await library.read(old)
    changing['git/SKILL.md'] = '---\nname: git\ndescription: two\n---\n'
    // The cache has what was approved. A library without one notices the change.
    await expect(library.read(old)).resolves.toMatchObject({ text: expect.stringMatching(/one/) })
    const fresh = skills(client, { cache: false })
    await expect(fresh.read(old)).rejects.toMatchObject({ reason: 'digest-mismatch' })
    const renewed = await fresh.get('skill://git/SKILL.md')
    expect(await fresh.read(renewed)).toMatchObject({ text: expect.stringMatching(/two/) })
  })
})

describe('a file', () => {
  const uri = skillFile.uri

  it.each<[string, object, string]>([
    ['other bytes of the same length', { text: PDF_SKILL.replace('first', 'never') }, 'digest-mismatch'],
    ['more bytes', { text: `${PDF_SKILL}more` }, 'size-mismatch'],
    ['fewer bytes', { text: PDF_SKILL.slice(1) }, 'size-mismatch'],
    ['other line ends', { text: PDF_SKILL.replaceAll('\n', '\r\n') }, 'size-mismatch'],
    ['characters of more bytes', { text: 'ü'.repeat(PDF_SKILL.length) }, 'size-mismatch'],
    ['too much Base64', { blob: 'A'.repeat(1_000_000) }, 'size-mismatch'],
    ['invalid Base64', { blob: '§' }, 'invalid-contents'],
    ['no contents', {}, 'invalid-contents'],
  ])('is refused with %s', async (_, contents, reason) => {
    const { library } = createLiar({ [uri]: contents })
    await expect(library.read(entry)).rejects.toMatchObject({ reason, message: expect.stringContaining(uri) })
  })

  it.each([
    ['no result', undefined],
    ['no array', { contents: {} }],
    ['no item', { contents: [] }],
    ['two items', { contents: [{ text: PDF_SKILL }, { text: PDF_SKILL }] }],
    ['null', { contents: [null] }],
  ])('is refused in a result with %s', async (_, result) => {
    const { connection } = createPeer({ 'resources/read': result })
    await expect(skills(connection).read(entry)).rejects.toMatchObject({ reason: 'invalid-contents' })
  })

  it('may be text or Base64', async () => {
    const { library } = createLiar({ [uri]: { blob: btoa(PDF_SKILL) } })
    expect(await library.read(entry)).toMatchObject({ text: PDF_SKILL })
  })

  it.each([
    'references/OTHER.md',
    '../secrets/SKILL.md',
    '../pdf-processing/SKILL.md',
    'references/../SKILL.md',
    '..%2Fsecrets',
    '/etc/passwd',
    'skill://secrets/SKILL.md',
    'file:///etc/passwd',
    'references%2FFORMS.md',
    'references\\FORMS.md',
    'SKILL.md%00',
    'x'.repeat(100_000),
    '\ud800',
    '',
  ])('named %j is not requested, because the entry does not have it', async (reference) => {
    const { library, requests } = createLiar({})
    await expect(library.read(entry, reference)).rejects.toMatchObject({ reason: 'not-in-manifest' })
    expect(requests).toEqual([])
  })

  it('is requested when it is read, not before, and once', async () => {
    const { library, requests } = createLiar({ [uri]: { text: PDF_SKILL }, [FORMS_URI]: { text: FORMS } })
    const [skill] = (await library.list()) as [Skill]
    expect(requests).toEqual(['skills/list'])
    await library.read(skill)
    await library.read(skill)
    await library.read(skill, 'references/FORMS.md')
    expect(requests).toEqual(['skills/list', `resources/read ${uri}`, `resources/read ${FORMS_URI}`])
  })
})

describe('a SKILL.md', () => {
  const changed = PDF_SKILL.replace('Extract', 'Exfiltrate')
  const lies = (text: string, own: Skill['frontmatter'] = frontmatter) => {
    const lie = entryOf({ 'pdf-processing/SKILL.md': text }, own)
    return { lie, ...createLiar({ [lie.uri]: { text } }, lie) }
  }

  it.each<[string, string, Skill['frontmatter'] | undefined, RegExp]>([
    ['another description', changed, undefined, /the member "description" of the entry differs from that of SKILL.md/],
    ['a member that the entry does not have', PDF_SKILL.replace('---\n\n', 'hooks: x\n---\n\n'), undefined, /"hooks"/],
    ['no member that the entry has', PDF_SKILL, { ...frontmatter, license: 'MIT' }, /"license"/],
    ['no frontmatter', '# Title', undefined, /expected a line `---`/],
    [
      'a duplicate name',
      PDF_SKILL.replace('name:', 'name: x\nname:'),
      undefined,
      /expected each name once, got "name" twice/,
    ],
  ])('with %s is not loaded', async (_, text, own, message) => {
    const { library, lie } = lies(text, own)
    await expect(library.read(lie)).rejects.toMatchObject({
      reason: 'frontmatter-mismatch',
      message: expect.stringMatching(message),
    })
  })

  it('may lack members that are null in the entry', async () => {
    const { library, lie } = lies(PDF_SKILL, { ...frontmatter, license: null })
    expect(await library.read(lie)).toMatchObject({ isVerified: true })
  })
})

describe('an entry', () => {
  const digest = sha256('x')
  const resource = (uri: string, size: unknown = 1) => ({ uri, digest, size })
  const uri = 'skill://a/SKILL.md'
  const valid = { uri, frontmatter: { name: 'a', description: 'x' }, resources: [resource(uri)] }
  const withFiles = (...resources: unknown[]) => ({ ...valid, resources: [resource(uri), ...resources] })

  it.each<[string, unknown, RegExp]>([
    ['null', null, /^skill.uri: expected string, got nothing$/],
    ['without a uri', { ...valid, uri: 5 }, /^skill.uri: expected string, got number$/],
    ['of another file', { ...valid, uri: 'skill://a/README.md' }, /uri: expected <scheme>:\/\/<path>\/SKILL.md/],
    ['at no path', { ...valid, uri: 'skill://SKILL.md' }, /uri: expected/],
    ['with ".." in its path', { ...valid, uri: 'skill://b/../a/SKILL.md' }, /uri: expected/],
    ['with "%2F" in its path', { ...valid, uri: 'skill://b%2Fa/SKILL.md' }, /uri: expected/],
    ['without a frontmatter', { ...valid, frontmatter: [] }, /frontmatter: expected object, got array/],
    [
      'with another name',
      { ...valid, frontmatter: { name: 'b', description: 'x' } },
      /expected "a", the name of the directory/,
    ],
    ['without a description', { ...valid, frontmatter: { name: 'a' } }, /frontmatter.description: expected a sentence/],
    ['without resources', { ...valid, resources: undefined }, /resources: expected array or "dynamic", got nothing/],
    ['with other resources', { ...valid, resources: 'static' }, /resources: expected array or "dynamic", got string/],
    ['without its own file', { ...valid, resources: [] }, /resources: expected the SKILL.md among them/],
    [
      'with a file outside',
      withFiles(resource('skill://b/x')),
      /resources\[1\].uri: expected the URI of a file of the skill/,
    ],
    ['with a file above', withFiles(resource('skill://a/../b/x')), /resources\[1\].uri/],
    ['with the directory as file', withFiles(resource('skill://a')), /resources\[1\].uri/],
    ['with a directory of a longer name', withFiles(resource('skill://ab/x')), /resources\[1\].uri/],
    ['with a file that is null', withFiles(null), /resources\[1\].uri/],
    [
      'with a file twice',
      withFiles(resource('skill://a/x'), resource('skill://a/%78')),
      /resources\[2\].uri: expected each file once/,
    ],
    [
      'with a digest in capitals',
      withFiles({ ...resource('skill://a/x'), digest: digest.toUpperCase() }),
      /digest: expected "sha256:"/,
    ],
    ['without a size', withFiles({ uri: 'skill://a/x', digest }), /resources\[1\].size: expected a number of bytes/],
    ['with a negative size', withFiles(resource('skill://a/x', -1)), /size/],
    ['with a size that is not an integer', withFiles(resource('skill://a/x', 1.5)), /size/],
    ['of 513 files', withFiles(...Array(512).fill(null)), /expected at most 512 files, got 513/],
    [
      'of 17 MiB',
      withFiles(resource('skill://a/x', 17 * 2 ** 20)),
      /expected at most 16777216 bytes \(16 MiB\), got 17825793/,
    ],
    ['that is listed twice', valid, /is listed twice$/],
  ])('%s is left out of the list with a warning, and is not read', async (_, skill, message) => {
    const onWarning = vi.fn<(warning: Error) => void>()
    const { connection, requests } = createPeer({ 'skills/list': { skills: [valid, skill] } })
    const library = skills(connection, { onWarning })
    expect(await library.list()).toEqual([valid])
    expect(onWarning.mock.calls).toEqual([[expect.any(SkillError)]])
    expect(onWarning.mock.calls[0]?.[0].message).toMatch(message)
    if (skill !== valid) await expect(library.read(skill as Skill)).rejects.toThrow(message)
    expect(requests).toEqual(['skills/list'])
  })

  it('may have another scheme, and other spellings of its URIs', async () => {
    const uri = 'GITHUB://o/r/skills/%61/SKILL.md'
    const skill = { ...valid, uri, resources: [resource('github://o/r/skills/a/SKILL.md')] }
    const { connection } = createPeer({ 'skills/list': { skills: [skill] } })
    expect(await skills(connection).list()).toEqual([skill])
  })

  it('of another skill is refused as the result of get', async () => {
    const { connection } = createPeer({ 'skills/get': { skill: entry } })
    await expect(skills(connection).get('skill://a/SKILL.md')).rejects.toThrow(
      'skills/get: expected the entry of "skill://a/SKILL.md", got that of "skill://pdf-processing/SKILL.md"',
    )
  })
})

describe('lists', () => {
  const page = (n: number, nextCursor?: unknown) => ({
    skills: [{ uri: `skill://s${n}/SKILL.md`, frontmatter: { name: `s${n}`, description: 'x' }, resources: 'dynamic' }],
    nextCursor,
  })

  it('have all pages', async () => {
    const { connection, requests } = createPeer({
      'skills/list': page(1, 'b'),
      'skills/list b': page(2, 'c'),
      'skills/list c': page(3, ''),
    })
    expect((await skills(connection).list()).map(({ uri }) => uri)).toHaveLength(3)
    expect(requests).toEqual(['skills/list', 'skills/list b', 'skills/list c'])
  })

  it.each([
    [
      'repeats a cursor',
      { 'skills/list': page(1, 'b'), 'skills/list b': page(2, 'b') },
      /has the cursor of an earlier page/,
    ],
    ['is no object', { 'skills/list': { skills: 'x' } }, /^skills\/list: result.skills: expected array, got string$/],
  ])('are refused when a page %s', async (_, results, message) => {
    await expect(skills(createPeer(results).connection).list()).rejects.toThrow(message)
  })

  it('are refused when they do not end', async () => {
    let n = 0
    const { connection } = createPeer({})
    const endless = { ...connection, request: async () => ({ ...page(++n), nextCursor: `${n}` }) }
    await expect(skills(endless).list()).rejects.toMatchObject({ reason: 'limit' })
    expect(n).toBe(1_001)
    const large = { ...page(1), padding: undefined, skills: Array(1_000).fill('x'.repeat(40_000)) }
    await expect(skills(createPeer({ 'skills/list': large }).connection).list()).rejects.toMatchObject({
      reason: 'limit',
    })
  })

  it('leave out children of other directories', async () => {
    const children = ['skill://a/b', 'skill://a/../x', 'skill://ab', 'skill://a', 5].map((uri) => ({ uri, name: 'x' }))
    const { connection } = createPeer({ 'resources/directory/read': { resources: children } }, { directoryRead: true })
    const onWarning = vi.fn()
    expect(await skills(connection, { onWarning }).readDirectory('skill://a')).toEqual([children[0]])
    expect(onWarning).toHaveBeenCalledTimes(4)
  })
})

describe('a dynamic skill', () => {
  const dynamic: Skill = { ...entry, resources: 'dynamic' }
  const contents = { [dynamic.uri]: { text: PDF_SKILL }, [FORMS_URI]: { text: FORMS } }

  it('is not read by default', async () => {
    const { library, requests } = createLiar(contents, dynamic)
    await expect(library.read(dynamic)).rejects.toMatchObject({
      reason: 'dynamic',
      message: expect.stringMatching(/pass `allowDynamic: true`/),
    })
    expect(requests).toEqual([])
  })

  it('is read unverified with `allowDynamic`, but compared with its frontmatter, and never outside of its directory', async () => {
    const { library, requests } = createLiar(contents, dynamic, { allowDynamic: true })
    expect(await library.read(dynamic)).toMatchObject({ isVerified: false, text: PDF_SKILL })
    expect(await library.read(dynamic, 'references/FORMS.md')).toMatchObject({ isVerified: false, text: FORMS })
    const other = { ...dynamic, frontmatter: { ...frontmatter, description: 'other' } }
    await expect(library.read(other)).rejects.toMatchObject({ reason: 'frontmatter-mismatch' })
    await expect(library.read(dynamic, '../x/SKILL.md')).rejects.toMatchObject({ reason: 'not-in-manifest' })
    expect(requests).toHaveLength(3)
  })

  it('has at most 16 MiB per file', async () => {
    const { library } = createLiar({ [dynamic.uri]: { text: 'x'.repeat(2 ** 24 + 1) } }, dynamic, {
      allowDynamic: true,
    })
    await expect(library.read(dynamic)).rejects.toMatchObject({ reason: 'limit' })
  })
})

describe('the cache', () => {
  it('is not trusted: changed bytes are requested again', async () => {
    const stored = new Map<string, Uint8Array>()
    const { library, requests } = createLiar({ [entry.uri]: { text: PDF_SKILL } }, entry, { cache: stored })
    await library.read(entry)
    expect([...stored.keys()]).toEqual([skillFile.digest])
    for (const text of ['evil', PDF_SKILL.replace('first', 'never')]) {
      stored.set(skillFile.digest, new TextEncoder().encode(text))
      expect(await library.read(entry)).toMatchObject({ text: PDF_SKILL })
    }
    expect(requests).toHaveLength(3)
  })

  it('does not hide an entry with a wrong size', async () => {
    const { library } = createLiar({ [entry.uri]: { text: PDF_SKILL } })
    await library.read(entry)
    const [own, ...others] = entry.resources as SkillResource[]
    const lie = { ...entry, resources: [{ ...own, size: 1 } as SkillResource, ...others] }
    await expect(library.read(lie)).rejects.toMatchObject({ reason: 'size-mismatch' })
  })

  it('in memory keeps 32 MiB of the files that were used last', async () => {
    const cache = createMemoryCache()
    const bytes = (n: number) => new Uint8Array(10 * 2 ** 20).fill(n)
    for (const n of [1, 2, 3]) await cache.set(`${n}`, bytes(n))
    await cache.get('1')
    await cache.set('4', bytes(4))
    await cache.set('4', bytes(5))
    expect(await Promise.all(['1', '2', '3', '4'].map(async (key) => (await cache.get(key))?.[0]))).toEqual([
      1,
      undefined,
      3,
      5,
    ])
    await cache.set('huge', new Uint8Array(40 * 2 ** 20))
    expect(await cache.get('huge')).toBeUndefined()
  })

  it.each([
    ['get', { get: () => Promise.reject(new Error('EIO')), set: () => {} }],
    ['set', { get: () => undefined, set: () => Promise.reject(new Error('ENOSPC')) }],
    ['get, with a value of another type', { get: () => 'x'.repeat(PDF_SKILL.length) as never, set: () => {} }],
  ])('may fail in %s: the file is requested', async (_, cache) => {
    const onWarning = vi.fn<(warning: Error) => void>()
    const { library } = createLiar({ [entry.uri]: { text: PDF_SKILL } }, entry, { cache, onWarning })
    expect(await library.read(entry)).toMatchObject({ text: PDF_SKILL, isVerified: true })
    const message = 'The cache of skills failed, so its files are requested again'
    expect(onWarning.mock.calls).toEqual([[expect.objectContaining({ message })]])
  })

  it('never keeps bytes that were not verified', async () => {
    const stored = new Map<string, Uint8Array>()
    const { library } = createLiar({ [entry.uri]: { text: 'x'.repeat(PDF_SKILL.length) } }, entry, { cache: stored })
    await expect(library.read(entry)).rejects.toMatchObject({ reason: 'digest-mismatch' })
    expect(stored.size).toBe(0)
  })
})

describe('the options', () => {
  it('are checked', () => {
    const { connection } = createPeer({})
    expect(() => skills({} as never)).toThrow('skills: expected a connected client, got object; write await connect(…)')
    expect(() => skills(connection, { allowDynamics: true } as never)).toThrow('did you mean "allowDynamic"?')
  })
})
