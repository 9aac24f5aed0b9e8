/** Runs the commands of `mcpx` as processes against servers with other SDKs. */

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { commandFor, openServers, type Servers } from './peers.ts'
import { frameworkServers } from './third-party/frameworks.ts'
import { serveMcpLite } from './third-party/mcp-lite.ts'
import { type ListeningServer, programOf, startListening } from './third-party/program.ts'

const sources = new URL('../../../packages/cli/src/', import.meta.url)
const program = ['--import', new URL('sources.fixture.ts', sources).href, fileURLToPath(new URL('main.ts', sources))]
const home = mkdtempSync(join(tmpdir(), 'mcpx-interop-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

interface Run {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `mcpx command <server> rest`; a server that is a command follows after `--`. */
function mcpx(
  server: string | readonly string[],
  command: string,
  rest: readonly string[] = [],
  input = '',
): Promise<Run> {
  const args = typeof server === 'string' ? [command, server, ...rest] : [command, ...rest, '--', ...server]
  const env = { PATH: process.env.PATH, HOME: home }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...program, ...args], { env, cwd: home }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr }),
    )
    child.stdin?.end(input)
  })
}

let shops: Servers
beforeAll(async () => {
  shops = await openServers()
})
afterAll(() => shops.close())

describe.each(['ours', 'sdk-1', 'sdk-2'])('the shop of %s', (kind) => {
  it.each([
    ['stdio', () => ['--no-warnings', ...commandFor(kind).slice(1)]],
    ['http', () => shops.urls[kind] as string],
  ] as const)(
    'over %s answers every command',
    async (_, serverOf) => {
      const given = serverOf()
      const server = typeof given === 'string' ? given : [process.execPath, '--conditions=source', ...given]

      const list = await mcpx(server, 'list')
      expect(list, list.stderr).toMatchObject({ code: 0, stderr: '' })
      expect(list.stdout).toContain('add(a: number, b: number): { sum: number }')

      const call = await mcpx(server, 'call', ['add', 'a=2', 'b=3', '--json'])
      expect(JSON.parse(call.stdout)).toMatchObject({ structuredContent: { sum: 5 } })
      expect((await mcpx(server, 'call', ['add', 'a=two', 'b=3'])).code).toBe(2)
      expect((await mcpx(server, 'call', ['fail'])).code).toBe(1)
      const contents = await mcpx(server, 'call', ['contents'])
      expect(contents.code).toBe(0)
      expect(contents.stdout).toMatch(/^image\/png, \d+ bytes: /m)
      // The question is declined, because there is no terminal.
      expect((await mcpx(server, 'call', ['ask', 'message=Who?'])).stderr).toContain('This was declined')

      expect((await mcpx(server, 'read', ['note://1'])).stdout).toBe('Note 1\n')
      expect((await mcpx(server, 'read', ['note://none'])).code).toBe(4)
      expect((await mcpx(server, 'prompt', ['greet', 'name=Ada'])).stdout).toContain('Ada')
      expect((await mcpx(server, 'ping')).stdout).toContain('responds in')
      expect((await mcpx(server, 'types')).stdout).toContain('add: { input: AddInput; output: AddOutput }')
      const shell = await mcpx(server, 'shell', [], 'read note://1\nadd a=1 b=1\n')
      expect(shell).toMatchObject({ code: 0, stdout: 'Note 1\n{\n  "sum": 2\n}\n' })
    },
    120_000,
  )
})

/** That of @hono/mcp has one session for its lifetime, and fastmcp imports a package whose `source` condition Node cannot load. */
const others = frameworkServers.filter(({ name }) => name === 'tmcp' || name === 'mcp-handler')

describe.each([...others, { name: 'mcp-lite', serve: serveMcpLite }])('a server with $name', ({ serve }) => {
  let server: ListeningServer
  beforeAll(async () => {
    server = await serve()
  })
  afterAll(() => server.close())

  it('is listed, called and typed', async () => {
    const url = `http://127.0.0.1:${server.port}/mcp`
    expect((await mcpx(url, 'list')).stdout).toContain('add(a: number, b: number)')
    const call = await mcpx(url, 'call', ['add', 'a=2', 'b=3'])
    expect(call, call.stderr).toMatchObject({ code: 0, stderr: '' })
    expect(call.stdout).toContain('5')
    expect((await mcpx(url, 'types')).stdout).toContain('add: { input: AddInput')
    expect((await mcpx(url, 'ping')).code).toBe(0)
  }, 60_000)
})

/** The findings of `mcpx doctor`: each is true of these servers. */
const findings: Readonly<Record<string, readonly string[]>> = {
  tmcp: ['version-unchecked', 'lost-session', 'origin-unchecked'],
  'mcp-handler': ['origin-unchecked', 'no-description'],
  'mcp-lite': ['lost-session', 'origin-unchecked', 'no-description'],
  everything: ['lost-session', 'origin-unchecked', 'model-schema'],
}
const everything = {
  name: 'everything',
  serve: () => startListening(programOf('@modelcontextprotocol/server-everything'), ['streamableHttp']),
}

it.each([...others, { name: 'mcp-lite', serve: serveMcpLite }, everything])(
  'mcpx doctor reports what a server with $name lacks, and nothing else',
  async ({ name, serve }) => {
    const { port, close } = await serve()
    onTestFinished(() => close())
    const { stdout } = await mcpx(`http://127.0.0.1:${port}/mcp`, 'doctor', ['--json'])
    expect((JSON.parse(stdout) as { findings: { id: string }[] }).findings.map(({ id }) => id)).toEqual(findings[name])
  },
  60_000,
)

it('the reference server with all features answers every command', async () => {
  const server = [process.execPath, programOf('@modelcontextprotocol/server-everything'), 'stdio']
  expect((await mcpx(server, 'list')).stdout).toContain('get-sum(a: number, b: number)')
  expect((await mcpx(server, 'call', ['get-sum', 'a=2', 'b=3'])).stdout).toBe('The sum of 2 and 3 is 5.\n')
  expect((await mcpx(server, 'call', ['get-tiny-image'])).stdout).toMatch(/^image\/png, \d+ bytes: /m)
  expect((await mcpx(server, 'read', ['demo://resource/dynamic/text/1'])).stdout).toContain('Resource 1')
  expect((await mcpx(server, 'prompt', ['args-prompt', 'city=Oslo'])).stdout).toContain('Oslo')
  expect((await mcpx(server, 'types')).stdout).toContain('"get-sum"')
  expect((await mcpx(server, 'ping')).code).toBe(0)
  expect((await mcpx(server, 'lock', ['--file', 'everything.lock.json'])).code).toBe(0)
  expect((await mcpx(server, 'lock', ['--check', '--file', 'everything.lock.json'])).code).toBe(0)
}, 120_000)

it('the reference servers for files and memories are listed, called and locked', async () => {
  writeFileSync(join(home, 'note.txt'), 'Buy milk\n')
  const files = [process.execPath, programOf('@modelcontextprotocol/server-filesystem'), home]
  expect((await mcpx(files, 'list')).stdout).toContain('read_text_file(')
  expect((await mcpx(files, 'call', ['read_text_file', `path=${join(home, 'note.txt')}`])).stdout).toContain('Buy milk')
  expect((await mcpx(files, 'call', ['read_text_file', 'path=/etc/passwd'])).code).toBe(1)
  expect((await mcpx(files, 'lock', ['--file', 'files.lock.json'])).code).toBe(0)
  const memory = [process.execPath, programOf('@modelcontextprotocol/server-memory')]
  expect((await mcpx(memory, 'call', ['read_graph'])).stdout).toContain('entities')
  // Another server is not the locked one.
  expect((await mcpx(memory, 'lock', ['--check', '--file', 'files.lock.json'])).code).toBe(1)
}, 120_000)
