/** The tests of small commands: read, prompt, ping, subscribe, completion, and the kinds of servers. */

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { serveHttp } from '@mcpx/transport-http/node'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folderWith, mcpx, mcpxInTerminal } from '../cli.fixture.ts'
import { server } from '../server.fixture.ts'

const shop = fileURLToPath(new URL('../server.fixture.ts', import.meta.url))
const { resolve } = createRequire(import.meta.url)
const filesystem = resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
const everything = resolve('@modelcontextprotocol/server-everything/dist/index.js')

describe('mcpx read', () => {
  it('prints a resource', async () => {
    expect(await mcpx(['read', shop, 'shop://terms'])).toMatchObject({
      code: 0,
      stdout: 'All sales are final.\n',
      stderr: '',
    })
    const json = await mcpx(['read', shop, 'shop://terms', '--json'])
    expect(json.json()).toMatchObject({ contents: [{ uri: 'shop://terms', text: 'All sales are final.\n' }] })
  })

  it('writes bytes to a file', async () => {
    const folder = await folderWith({})
    const uri = 'demo://resource/dynamic/blob/1'
    const { code } = await mcpx(['read', uri, '-o', 'blob.bin', '--', process.execPath, everything], { cwd: folder })
    expect(code).toBe(0)
    expect(await readFile(`${folder}/blob.bin`, 'utf8')).toContain('Resource 1')
  })

  it('reports a resource that does not exist with exit code 4', async () => {
    const { code, stderr } = await mcpx(['read', shop, 'shop://nothing'])
    expect([code, stderr]).toEqual([
      4,
      'error: The server refused the request: Resource not found: "shop://nothing" (-32602)\n',
    ])
  })
})

describe('mcpx prompt', () => {
  it('prints the messages', async () => {
    const { code, stdout } = await mcpx(['prompt', shop, 'review', 'item=shoe 9'])
    expect([code, stdout]).toEqual([0, 'user:\nReview shoe 9.\n'])
  })

  it('suggests near names, and names missing arguments', async () => {
    expect((await mcpx(['prompt', shop, 'reviw'])).stderr).toContain('Did you mean "review"?')
    expect((await mcpx(['prompt', shop, 'review'])).stderr).toContain('review: missing the argument item')
  })
})

describe('mcpx ping', () => {
  it.each(['modern', 'legacy'])('measures a server of the %s era', async (era) => {
    const { json } = await mcpx(['ping', shop, '--era', era, '--json'])
    expect(json()).toMatchObject({
      server: { name: 'shop' },
      era,
      connectTime: expect.any(Number),
      pingTime: expect.any(Number),
    })
  })
})

describe('mcpx subscribe', () => {
  it('prints changes, and ends after the first one with --once', async () => {
    const source = `import { createServer } from '@mcpx/server'
      export const server = createServer({ name: 'feed', version: '1' }).resource('feed://news', { subscribe: true }, () => 'news').tool('now', {}, () => 'noon')
      setInterval(() => server.resourceUpdated('feed://news'), 50)`
    const folder = await folderWith({ 'feed.mts': source.replace('@mcpx/server', import.meta.resolve('@mcpx/server')) })
    const one = await mcpx(['subscribe', `${folder}/feed.mts`, 'feed://news', '--once'])
    expect(one.stdout).toMatch(/^\d\d:\d\d:\d\d feed:\/\/news was updated\n$/)
    expect(one.stderr).toContain('Following the list of tools, the list of resources, feed://news. Ctrl-C ends.')
    const terminal = await mcpxInTerminal(['subscribe', `${folder}/feed.mts`, 'feed://news', '--json'])
    await terminal.waitFor('{"kind":"resource","uri":"feed://news"}')
    await terminal.waitFor('{"kind":"resource","uri":"feed://news"}')
    terminal.type('\u0003')
    // This is how the command ends.
    expect(await terminal.exited).toBe(0)
  })
})

describe('mcpx completion', () => {
  it.each(['bash', 'zsh', 'fish', 'powershell'])('prints a script for %s', async (shell) => {
    const { code, stdout } = await mcpx(['completion', shell])
    expect(stdout).toContain('mcpx complete')
    expect(code).toBe(0)
  })

  it('refuses other shells', async () => {
    expect(await mcpx(['completion', 'csh'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Allowed choices are bash, zsh'),
    })
  })

  it('completes the tools, arguments, prompts and resources of a server', async () => {
    const complete = async (...words: string[]) =>
      (await mcpx(['complete', '--', ...words])).stdout.replaceAll('\t\n', ' ').trim()
    expect(await complete('call', shop, 's')).toBe('search slow :4')
    expect(await complete('call', '--timeout', '5000', shop, 'search', '')).toBe('q= limit= tags= exact= price= :6')
    expect(await complete('call', shop, 'search', 'q=a', 'limit=1', '')).toBe('tags= exact= price= :6')
    expect(await complete('call', shop, 'search', 'q=a', '--er')).toContain('--era')
    expect(await complete('call', shop, 'gone', '')).toBe(':4')
    expect(await complete('read', shop, '')).toBe('shop://terms :4')
    expect(await complete('subscribe', shop, 'shop://te')).toBe('shop://terms :4')
    expect(await complete('prompt', shop, 'review', 't')).toBe('tone= :6')
  })

  it('completes nothing if the server does not answer in time', async () => {
    const folder = await folderWith({ 'slow.mjs': 'await new Promise((resolve) => setTimeout(resolve, 60_000))' })
    const start = performance.now()
    expect(await mcpx(['complete', '--', 'call', `${folder}/slow.mjs`, ''])).toMatchObject({ code: 0, stdout: ':4\n' })
    expect(performance.now() - start).toBeLessThan(8_000)
  })

  it('completes commands, options, servers in settings, and files', async () => {
    const home = await folderWith({
      '.cursor/mcp.json': '{ "mcpServers": { "shop": { "command": "node" } } }',
      'server.ts': '',
      'notes.txt': '',
      'lib/inner.mjs': '',
    })
    const complete = async (...words: string[]) => {
      const { stdout } = await mcpx(['complete', '--', ...words], { cwd: home, env: { HOME: home } })
      return stdout
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith(':'))
        .map((line) => line.split('\t')[0])
    }
    expect(await complete('ca')).toEqual(['call'])
    expect(await complete('call', '--ar')).toEqual(['--args'])
    expect(await complete('call', '')).toEqual(['shop', 'lib/', 'server.ts'])
    expect(await complete('list', 'lib/')).toEqual(['lib/inner.mjs'])
    expect(await complete('call', '-', '')).toEqual([])
    expect(await complete('call', 'nobody', 's')).toEqual([])
  })
})

describe('<server>', () => {
  it('is a URL, with headers and a token', async () => {
    const seen: (string | undefined)[] = []
    const { url, close } = await serveHttp(server, {
      port: 0,
      authenticate: (request: Request) => {
        seen.push(request.headers.get('authorization') ?? undefined, request.headers.get('x-key') ?? undefined)
        return { subject: 'user', scopes: [] }
      },
    })
    onTestFinished(close)
    const { code, stdout } = await mcpx(['call', url, 'slow', '--token', 'abc', '--header', 'X-Key: 1:2'])
    expect([code, stdout]).toEqual([0, 'done\n'])
    expect(seen.slice(0, 2)).toEqual(['Bearer abc', '1:2'])
  })

  it('keeps the authorization of its settings, unless --token is given', async () => {
    const seen = new Set<string | null>()
    const { url, close } = await serveHttp(server, {
      port: 0,
      authenticate: (request: Request) => {
        seen.add(request.headers.get('authorization'))
        return { subject: 'user', scopes: [] }
      },
    })
    onTestFinished(close)
    const headers = { authorization: 'Bearer own' }
    const home = await folderWith({ '.cursor/mcp.json': JSON.stringify({ mcpServers: { shop: { url, headers } } }) })
    const env = { HOME: home, MCPX_TOKEN: 'of-another-server' }
    const sent = async (...args: string[]) => {
      seen.clear()
      expect((await mcpx(['ping', ...args], { cwd: home, env })).code).toBe(0)
      return [...seen]
    }
    expect(await sent('shop')).toEqual(['Bearer own'])
    expect(await sent('shop', '--token', 'mine')).toEqual(['Bearer mine'])
    expect(await sent('shop', '--header', 'AUTHORIZATION: Bearer header')).toEqual(['Bearer header'])
    expect(await sent(url)).toEqual(['Bearer of-another-server'])
  })

  it('is a name in settings, also with the host, or in the file of --config', async () => {
    const entry = (name: string) => ({ [name]: { command: process.execPath, args: [everything] } })
    const home = await folderWith({
      '.cursor/mcp.json': JSON.stringify({ mcpServers: { ...entry('all'), broken: { command: 'no-such-program' } } }),
      '.gemini/settings.json': JSON.stringify({
        mcpServers: { broken: { command: process.execPath, args: [everything] } },
      }),
      'own.json': JSON.stringify({ mcpServers: entry('mine') }),
    })
    const ping = (...args: string[]) => mcpx(['ping', ...args], { cwd: home, env: { HOME: home } })
    expect((await ping('all')).stdout).toContain('Everything Reference Server')
    const several = await ping('broken')
    expect(several.stderr).toContain('"broken" is the name of several servers\nWrite one of:\n  cursor:broken')
    expect((await ping('gemini:broken')).code).toBe(0)
    expect((await ping('mine', '--config', 'own.json')).code).toBe(0)
    expect((await ping('mine')).stderr).toContain('Known servers: all, broken.')
    expect((await ping('all', '--config', 'own.json')).stderr).toContain('There is no server "all"')
    expect((await ping('all', '--config', 'gone.json')).stderr).toContain('gone.json does not exist')
  })

  it('is read from standard input', async () => {
    const settings = JSON.stringify({ command: process.execPath, args: [filesystem, '${FOLDER}'] })
    const folder = await folderWith({ 'a.txt': 'hello' })
    const args = ['call', '-', 'read_text_file', `path=${folder}/a.txt`]
    expect((await mcpx(args, { input: settings, env: { FOLDER: folder } })).stdout).toContain('hello')
    expect((await mcpx(args, { input: '[]' })).stderr).toContain('standard input: expected the settings of a server')
    expect((await mcpx(args, { input: settings })).stderr).toContain('the variable "FOLDER" has no value')
    expect((await mcpx(args)).stderr).toContain('expected the settings of a server, got nothing')
    expect((await mcpx(['call', '-', 'read_text_file', '-'])).stderr).toContain('both the server and the arguments')
    const two = JSON.stringify({ mcpServers: { a: { command: 'x' }, b: { command: 'y' } } })
    expect((await mcpx(args, { input: two })).stderr).toContain('expected one server, got a, b')
  })

  it.each([
    ['a default export', 'export { server as default } from SHOP'],
    ['an HTTP app', 'import { server } from SHOP; import { mcp } from HTTP; export default mcp(server)'],
    [
      'an object with fetch',
      'import { server } from SHOP; import { mcp } from HTTP; const app = mcp(server); export default { fetch: (request: Request) => app.fetch(request) }',
    ],
    [
      'TypeScript that Node does not support',
      'enum Level { Low } export { server } from SHOP; export const level: Level = Level.Low',
    ],
    [
      'a file that serves itself',
      'import { server } from SHOP; import { serveStdio } from STDIO; await serveStdio(server)',
    ],
    [
      'a file that serves itself without waiting',
      'import { server } from SHOP; import { serveStdio } from STDIO; export { server }; serveStdio(server)',
    ],
  ])('is a file with %s', async (_, source) => {
    const folder = await folderWith({ 'server.mts': withImports(source) })
    expect(await mcpx(['call', `${folder}/server.mts`, 'slow'])).toMatchObject({
      code: 0,
      stdout: 'done\n',
      stderr: '',
    })
  })

  it('is a file of another SDK that serves itself', async () => {
    const source = `
      import { McpServer } from '${pathToFileURL(resolve('@modelcontextprotocol/sdk/server/mcp.js'))}'
      import { StdioServerTransport } from '${pathToFileURL(resolve('@modelcontextprotocol/sdk/server/stdio.js'))}'
      const server: McpServer = new McpServer({ name: 'official', version: '1' })
      server.registerTool('now', {}, async () => ({ content: [{ type: 'text', text: 'noon' }] }))
      await server.connect(new StdioServerTransport())`
    const folder = await folderWith({ 'server.mts': source })
    expect(await mcpx(['call', `${folder}/server.mts`, 'now'])).toMatchObject({ code: 0, stdout: 'noon\n', stderr: '' })
  })

  it.each([
    ['exports no server', 'export const tools = 3', 2, 'server.mts exports tools, and no server'],
    ['exports nothing', '', 2, 'server.mts exports nothing, and no server'],
    ['has a syntax error', 'export const = 3', 3, 'server.mts cannot be loaded'],
    ['throws', "throw new Error('no database')", 3, 'cannot be loaded: no database\nat file://'],
    ['exits', 'process.exit(0)', 3, 'did not finish: the file of the server exited, or waits for something'],
    ['exits with a code', 'process.exit(9)', 3, 'the file of the server exited with code 9'],
    ['never finishes its import', 'await new Promise(() => {})', 3, 'waits for something that never happens'],
    ['lacks a dependency', "import 'no-such-package'", 3, "Cannot find package 'no-such-package'"],
  ])('refuses a file that %s', async (_, source, code, message) => {
    const folder = await folderWith({ 'server.mts': source })
    const result = await mcpx(['list', `${folder}/server.mts`])
    expect(result.stderr).toContain(message)
    expect([result.code, result.stdout]).toEqual([code, ''])
  })
})

/** Files in a temporary folder find our packages by their URLs. */
function withImports(source: string): string {
  return source
    .replaceAll('SHOP', JSON.stringify(pathToFileURL(shop).href))
    .replaceAll('HTTP', JSON.stringify(import.meta.resolve('@mcpx/transport-http')))
    .replaceAll('STDIO', JSON.stringify(import.meta.resolve('@mcpx/transport-stdio')))
}
