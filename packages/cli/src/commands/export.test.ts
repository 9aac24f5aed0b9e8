import { readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unpackExtension } from '@anthropic-ai/mcpb'
import { McpbManifestSchema } from '@anthropic-ai/mcpb/schemas/0.3'
import { connect } from '@mcpx/client'
import { createJsonSchemaValidator } from '@mcpx/json-schema'
import { spawn } from '@mcpx/transport-stdio'
import { describe, expect, it } from 'vitest'
import { folderWith, mcpx, mcpxInTerminal } from '../cli.fixture.ts'
import { REGISTRY_SCHEMA } from '../export/registry-schema.fixture.ts'

const checkRegistry = createJsonSchemaValidator().compile(REGISTRY_SCHEMA)

const PACKAGE = {
  name: '@acme/shop',
  version: '1.2.3',
  type: 'module',
  description: 'Searches the shop.',
  mcpName: 'io.github.acme/shop',
  author: 'Ada <ada@example.com> (https://example.com/ada)',
  repository: { type: 'git', url: 'git+https://github.com/acme/shop.git', directory: 'servers/shop' },
  homepage: 'https://example.com/shop',
  bugs: 'https://example.com/bugs',
  license: 'MIT',
  keywords: ['mcp'],
  engines: { node: '>=20' },
  bin: { shop: './dist/server.js' },
  files: ['dist'],
  dependencies: { left: '1', right: '1' },
  devDependencies: { unused: '1' },
}

/** Answers in the legacy era without a library, and returns the versions of its dependencies as a tool. */
const SERVER = `
import { createInterface } from 'node:readline'
import left from 'left'
import right from 'right'
if (process.env.SHOP_TOKEN !== 'hush') throw new Error('SHOP_TOKEN is missing')
const tools = [{ name: 'left-' + left + '-' + right, description: 'Search', inputSchema: { type: 'object' } }]
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const serverInfo = { name: 'shop', version: '1.0.0' }
  const { protocolVersion } = params ?? {}
  const result = { initialize: { protocolVersion, capabilities: { tools: {}, prompts: {} }, serverInfo }, 'tools/list': { tools } }[method]
  const error = { code: -32601, message: 'Method not found' }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) }) + '\\n')
})
`

const library = (version: string, content: string, more = {}) => ({
  'package.json': JSON.stringify({ version, main: 'main.js', ...more }),
  'main.js': content,
  'main.js.map': '{}',
})

/** Creates a package. Returns its folder. */
function packageWith(facts: object = {}, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const at = (folder: string, contents: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(contents).map(([name, content]) => [`node_modules/${folder}/${name}`, content]))
  return folderWith({
    'package.json': JSON.stringify({ ...PACKAGE, ...facts }),
    'dist/server.js': SERVER,
    'src/server.ts': '',
    '.env': 'SHOP_TOKEN=hush',
    ...at('left', library('1.0.0', 'module.exports = 1')),
    ...at('right', library('1.0.0', "module.exports = require('left')", { dependencies: { left: '2' } })),
    ...at('right/node_modules/left', library('2.0.0', 'module.exports = 2')),
    ...at('unused', library('1.0.0', '')),
    ...files,
  })
}

describe('mcpx export server.json', () => {
  it('describes a package and a hosted server for the registry', async () => {
    const folder = await packageWith()
    const args = ['--title', 'Shop', '--env', 'SHOP_TOKEN', '--env', 'REGION', '--url', 'https://mcp.acme.com/mcp']
    const { code, stdout } = await mcpx(['export', 'server.json', ...args], { cwd: folder })
    expect([code, stdout]).toEqual([0, `Wrote ${folder}/server.json\n`])
    const manifest = JSON.parse(await readFile(join(folder, 'server.json'), 'utf8'))
    expect(checkRegistry(manifest)).toEqual({ valid: true })
    expect(manifest).toEqual({
      $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
      name: 'io.github.acme/shop',
      title: 'Shop',
      description: 'Searches the shop.',
      version: '1.2.3',
      repository: { url: 'https://github.com/acme/shop', source: 'github', subfolder: 'servers/shop' },
      websiteUrl: 'https://example.com/shop',
      packages: [
        {
          registryType: 'npm',
          identifier: '@acme/shop',
          version: '1.2.3',
          transport: { type: 'stdio' },
          environmentVariables: [
            { name: 'SHOP_TOKEN', isRequired: true, isSecret: true },
            { name: 'REGION', isRequired: true, isSecret: false },
          ],
        },
      ],
      remotes: [{ type: 'streamable-http', url: 'https://mcp.acme.com/mcp' }],
    })
  })

  it('updates the version of a manifest, and keeps its other members', async () => {
    const old = {
      name: 'io.github.acme/shop',
      description: 'Written by hand.',
      version: '1.0.0',
      icons: [{ src: 'https://example.com/icon.png' }],
      packages: [
        { registryType: 'npm', identifier: '@acme/shop', version: '1.0.0', runtimeHint: 'npx' },
        { registryType: 'pypi', identifier: 'acme-shop', version: '0.9.0' },
      ],
    }
    const folder = await packageWith({}, { 'server.json': JSON.stringify(old) })
    const { manifest } = (await mcpx(['export', 'server.json', folder, '--json'])).json<{ manifest: typeof old }>()
    expect(manifest).toMatchObject({
      description: 'Written by hand.',
      version: '1.2.3',
      icons: old.icons,
      packages: [
        { identifier: '@acme/shop', version: '1.2.3', runtimeHint: 'npx' },
        { identifier: 'acme-shop', version: '0.9.0' },
      ],
    })
    const changed = await mcpx(['export', 'server.json', folder, '--json', '--description', 'New.'])
    expect(changed.json()).toMatchObject({ manifest: { description: 'New.', icons: old.icons } })
  })

  it('asks in a terminal for what is missing, and proposes a name', async () => {
    const folder = await packageWith({ mcpName: undefined, description: undefined })
    const terminal = await mcpxInTerminal(['export', 'server.json'], { cwd: folder })
    await terminal.waitFor('What is the name of the server in the registry?')
    await terminal.waitFor('io.github.acme/shop')
    terminal.type('\r')
    await terminal.waitFor('What does the server do?')
    terminal.type('Sells shoes.\r')
    await terminal.waitFor('Wrote')
    await terminal.waitFor('Add "mcpName": "io.github.acme/shop" to package.json')
    expect(await terminal.exited).toBe(0)
    const manifest = JSON.parse(await readFile(join(folder, 'server.json'), 'utf8'))
    expect(manifest).toMatchObject({ name: 'io.github.acme/shop', description: 'Sells shoes.' })
  })

  it.each([
    ['a missing name', { mcpName: undefined }, [], 'name: is missing'],
    ['a wrong name', { mcpName: 'shop' }, [], 'name: expected a domain backwards'],
    ['another name', {}, ['--name', 'io.github.acme/other'], 'name: expected "io.github.acme/shop"'],
    [
      'a long description',
      { description: 'x'.repeat(101) },
      [],
      'description: expected at most 100 characters, got 101',
    ],
    ['a missing description', { description: '' }, [], 'description: is missing'],
    ['a range as the version', { version: '^1.0.0' }, [], 'version: expected an exact version'],
    ['a private package', { private: true }, [], 'packages: the package is private'],
    ['a local URL', {}, ['--url', 'http://localhost:3000/mcp'], '--url: expected the public URL'],
    ['a wrong variable', {}, ['--env', 'A-B'], '--env: expected the name of a variable'],
    ['an option of bundles', {}, ['--entry', 'x.js'], '--entry has no meaning for server.json'],
  ])('refuses %s', async (_, facts, args, message) => {
    const folder = await packageWith(facts)
    expect(await mcpx(['export', 'server.json', folder, ...args])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    })
    await expect(stat(join(folder, 'server.json'))).rejects.toThrow('ENOENT')
  })
})

describe('mcpx export mcpb', () => {
  const key = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIBkgVHVuc2VjcmV0\n-----END EC PRIVATE KEY-----'

  it.each([
    ...['.env', '.env.production', 'prod.env', 'keys/id_ed25519', '.netrc', 'tls/server.key', 'STORE.P12'],
    ...['.aws/credentials', 'service-account.json', 'docs/notes.txt'],
  ])('refuses to pack %s', async (secret) => {
    const content = secret.endsWith('.json') ? JSON.stringify({ private_key: key }) : key
    const folder = await packageWith(
      { files: undefined },
      { '.npmignore': secret === '.env' ? '' : '.env', [secret]: content },
    )
    const { code, stderr } = await mcpx(['export', 'mcpb', folder, '--no-check'], { cwd: folder })
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`would contain ${join(folder, secret)}, which may hold`),
    ])
    expect(stderr).toContain('.npmignore')
    expect(stderr).not.toContain('hush')
    expect(await readdir(folder)).not.toContain('acme-shop-1.2.3.mcpb')
  })

  it('packs examples of variables, and no earlier bundle', async () => {
    const certificate = '-----BEGIN CERTIFICATE-----'
    const folder = await packageWith(
      { files: undefined },
      {
        ...{ '.npmignore': '.env', '.env.example': 'SHOP_TOKEN=', 'ca.pem': certificate },
        'parse.js': 'export const isKey = (text) => /-----BEGIN PRIVATE KEY-----\\n/.test(text)',
      },
    )
    const pack = () => mcpx(['export', 'mcpb', folder, '--no-check', '--json'], { cwd: folder })
    const [first, second] = [await pack(), await pack()]
    const { files, sha256 } = first.json<{ files: string[]; sha256: string }>()
    expect(files).toEqual(expect.arrayContaining(['.env.example', 'ca.pem', 'parse.js']))
    expect(second.json()).toMatchObject({ files, sha256 })
  })

  it('refuses files that are too large, before it reads them', async () => {
    const folder = await packageWith()
    const file = join(folder, 'node_modules/left/model.bin')
    await writeFile(file, '')
    await truncate(file, 3_000_000_000)
    const { code, stderr } = await mcpx(['export', 'mcpb', '--no-check'], { cwd: folder })
    expect(code).toBe(2)
    expect(stderr).toContain('exceed 500000000 bytes; node_modules/left/model.bin has 3000000000 bytes')
  })

  it('packs a server that runs with its own files only', async () => {
    const folder = await packageWith()
    const args = ['export', 'mcpb', folder, '--output', 'shop.mcpb', '--json', '--env', 'SHOP_TOKEN=hush']
    const result = await mcpx(args, { cwd: folder })
    expect(result.code).toBe(0)
    const { manifest, files, sha256 } = result.json<{ manifest: object; files: string[]; sha256: string }>()
    expect(files).toEqual([
      'dist/server.js',
      'node_modules/left/main.js',
      'node_modules/left/package.json',
      'node_modules/right/main.js',
      'node_modules/right/node_modules/left/main.js',
      'node_modules/right/node_modules/left/package.json',
      'node_modules/right/package.json',
      'package.json',
    ])
    const unpacked = join(folder, 'unpacked')
    expect(await unpackExtension({ mcpbPath: join(folder, 'shop.mcpb'), outputDir: unpacked, silent: true })).toBe(true)
    expect(JSON.parse(await readFile(join(unpacked, 'manifest.json'), 'utf8'))).toEqual(manifest)
    expect(McpbManifestSchema.safeParse(manifest).error).toBeUndefined()
    expect(manifest).toMatchObject({
      name: 'acme-shop',
      author: { name: 'Ada', email: 'ada@example.com', url: 'https://example.com/ada' },
      server: {
        mcp_config: { args: ['${__dirname}/dist/server.js'], env: { SHOP_TOKEN: '${user_config.shop_token}' } },
      },
      tools: [{ name: 'left-1-2', description: 'Search' }],
      prompts_generated: true,
      user_config: { shop_token: { sensitive: true, required: true } },
    })
    expect(JSON.stringify(manifest)).not.toContain('hush')
    const server = spawn(process.execPath, [join(unpacked, 'dist/server.js')], { env: { SHOP_TOKEN: 'hush' } })
    const client = await connect(server)
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(['left-1-2'])
    await client.close()
    expect((await mcpx(args, { cwd: folder })).json()).toMatchObject({ sha256 })
  })

  it('says how to mend a server that does not start, and packs it without the check', async () => {
    const folder = await packageWith()
    const failed = await mcpx(['export', 'mcpb'], { cwd: folder })
    expect(failed.code).toBe(3)
    expect(failed.stderr).toContain('SHOP_TOKEN is missing')
    expect(failed.stderr).toContain('--env NAME=value')
    const { code, stdout } = await mcpx(['export', 'mcpb', '--no-check'], { cwd: folder })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Wrote .*acme-shop-1\.2\.3\.mcpb: 9 files, 0\.0 MB\nSHA-256 [0-9a-f]{64}\n$/)
  })

  it.each([
    ['a missing author', { author: undefined }, [], 'author: is missing'],
    ['an entry in TypeScript', {}, ['--entry', 'src/server.ts'], 'entry: expected JavaScript, got src/server.ts'],
    ['an entry that is not published', {}, ['--entry', 'lib/server.js'], 'entry: lib/server.js is not among'],
    ['a package without a program', { bin: undefined }, [], 'entry: package.json has neither "bin" nor "main"'],
    ['a missing dependency', { dependencies: { gone: '1' } }, [], 'The dependency gone of '],
    ['an option of the registry', {}, ['--url', 'https://a.com'], '--url has no meaning for mcpb'],
  ])('refuses %s', async (_, facts, args, message) => {
    const folder = await packageWith(facts)
    expect(await mcpx(['export', 'mcpb', folder, ...args])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    })
  })

  it.each([
    [['export', 'zip'], 'Allowed choices are server.json, mcpb'],
    [['export', 'mcpb', 'gone'], 'gone/package.json cannot be read: ENOENT'],
  ])('refuses %j', async (args, message) => {
    expect(await mcpx(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
  })
})
