import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, it } from 'vitest'
import { folderWith, mcpx } from '../cli.fixture.ts'
import { HOSTS, type Machine } from '../server/hosts.ts'
import { checkEntry } from './entry-check.ts'
import { Diagnosis, FINDINGS, type FindingId } from './findings.ts'
import { checkSettings, programExists } from './settings-check.ts'

const shop = { command: process.execPath, args: ['--version'] }

/** Writes the settings of the user for a host, and returns what was found in them. */
async function diagnose(hostId: string, content: unknown, env: Record<string, string> = {}) {
  const home = await folderWith({})
  const machine: Machine = { platform: 'linux', home, cwd: home, env: { PATH: process.env.PATH, ...env } }
  const host = HOSTS.find(({ id }) => id === hostId)
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const file = host?.userFile(machine) ?? ''
  const { mkdir, writeFile } = await import('node:fs/promises')
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, text)
  const diagnosis = new Diagnosis()
  const files = await checkSettings(machine, undefined, diagnosis)
  expect(files.map((each) => each.file)).toEqual([file])
  return diagnosis.findings.map(({ id, seen, hint }) => ({ id, seen: seen.replace(`${file}`, ''), hint }))
}

const servers = (entry: unknown) => ({ mcpServers: { shop: entry } })

describe('the check of settings finds', () => {
  it.each<[FindingId, string, unknown, string, string?]>([
    ['config-syntax', 'cursor', '{\n  "mcpServers": {\n    "a": }\n}', ':3: ValueExpected'],
    ['config-syntax', 'claude-desktop', `{ "mcpServers": {} /* mine */ }`, ': a comment'],
    ['config-syntax', 'codex', '[mcp_servers.a]\ncommand = ', ':2: is not valid TOML'],
    ['config-syntax', 'goose', 'extensions: [', ':1: is not valid YAML'],
    ['config-root', 'vs-code', servers(shop), ': "mcpServers"', '{ "servers": { … } }'],
    ['config-root', 'cursor', { servers: { shop } }, ': "servers"', '{ "mcpServers": { … } }'],
    [
      'config-name-twice',
      'cursor',
      `{ "mcpServers": {\n"a": ${JSON.stringify(shop)},\n"a": ${JSON.stringify(shop)} } }`,
      ':3: mcpServers."a"',
    ],
    [
      'config-key',
      'windsurf',
      servers({ url: 'https://a.example/mcp' }),
      '"url"',
      '"serverUrl": "https://example.com/mcp"',
    ],
    [
      'config-key',
      'cursor',
      servers({ serverUrl: 'https://a.example/mcp' }),
      '"serverUrl"',
      '"url": "https://example.com/mcp"',
    ],
    ['config-key', 'cursor', servers({ ...shop, enviroment: {} }), '"enviroment"', '"env"'],
    ['config-key', 'cursor', servers({ ...shop, args: undefined, arguments: [] }), '"arguments"', '"args"'],
    [
      'config-key',
      'codex',
      '[mcp_servers.shop]\nurl = "https://a.example/mcp"\nheaders = { a = "b" }',
      '"headers"',
      '"http_headers"',
    ],
    ['config-key', 'goose', 'extensions:\n  shop:\n    type: stdio\n    command: node', '"command"', '"cmd"'],
    [
      'config-value',
      'cursor',
      servers({ ...shop, args: '-y shop' }),
      'shop.args: expected a list of strings, got string',
    ],
    [
      'config-value',
      'cursor',
      servers({ ...shop, env: { PORT: 3000 } }),
      'shop.env: expected strings, got number for "PORT"',
    ],
    ['config-value', 'cursor', servers('npx'), 'shop: string'],
    ['config-value', 'cursor', servers({ command: '' }), 'shop.command: expected a string, got an empty one'],
    ['config-transport', 'cursor', servers({ args: [] }), 'neither of "command" and "url"'],
    [
      'config-transport',
      'gemini',
      servers({ ...shop, httpUrl: 'https://a.example/mcp' }),
      'both of "command" and "httpUrl"',
    ],
    [
      'config-type',
      'claude-code',
      servers({ url: 'https://a.example/mcp' }),
      'no "type"',
      '"type": "http", "url": "https://a.example/mcp"',
    ],
    [
      'config-remote',
      'claude-desktop',
      servers({ url: 'https://a.example/mcp' }),
      'a URL',
      '"mcp-remote", "https://a.example/mcp"',
    ],
    ['config-url', 'cursor', servers({ url: 'a.example/mcp' }), 'not an http or https URL'],
    ['config-url', 'cursor', servers({ url: 'ws://a.example/mcp' }), 'not an http or https URL'],
    ['config-http', 'cursor', servers({ url: 'http://a.example/mcp' }), 'http://a.example', '"https://a.example/mcp"'],
    ['config-command', 'cursor', servers({ command: 'no-such-program' }), '"no-such-program"', 'which no-such-program'],
    ['config-command', 'cursor', servers({ command: '/no/such/program' }), '"/no/such/program"'],
    [
      'config-command-line',
      'cursor',
      servers({ command: 'node --version' }),
      '"node --version"',
      '"command": "node", "args": ["--version"]',
    ],
    ['config-file', 'cursor', servers({ command: 'node', args: ['/no/such/server.js'] }), '"/no/such/server.js"'],
    [
      'config-relative-path',
      'cursor',
      servers({ command: 'node', args: ['dist/server.js'] }),
      '"dist/server.js"',
      '/dist/server.js"',
    ],
    ['config-relative-path', 'cursor', servers({ command: './server' }), '"./server"', '/server"'],
    [
      'config-variable',
      'claude-code',
      servers({ ...shop, env: { KEY: '${NO_SUCH_KEY}' } }),
      '${NO_SUCH_KEY}',
      'export NO_SUCH_KEY=…',
    ],
    [
      'config-variable',
      'vs-code',
      { servers: { shop: { ...shop, env: { KEY: '${env:NO_SUCH_KEY}' } } } },
      '${NO_SUCH_KEY}',
    ],
    ['config-placeholder', 'cursor', servers({ ...shop, env: { KEY: 'YOUR_API_KEY' } }), 'shop.env: "KEY"'],
    ['config-placeholder', 'cursor', servers({ ...shop, env: { KEY: '' } }), 'shop.env: "KEY"'],
    [
      'config-placeholder',
      'cursor',
      servers({ url: 'https://a.example', headers: { Authorization: 'Bearer <token>' } }),
      'shop.headers: "Authorization"',
    ],
  ])('%s in the settings of %s, and nothing else', async (id, host, content, seen, hint = '') => {
    const found = await diagnose(host, content)
    expect(found.map((each) => each.id)).toEqual([id])
    expect(found[0]?.seen).toContain(seen)
    expect(found[0]?.hint ?? '').toContain(hint)
  })

  it('config-windows-script on Windows, and nothing else', () => {
    const machine: Machine = { platform: 'win32', home: 'C:\\me', cwd: 'C:\\me', env: {} }
    const entry = { command: 'npx', args: ['-y', '@acme/shop'] }
    const settings = { host: 'cursor', label: 'shop', entry, scope: 'user', machine, exists: () => true } as const
    expect(checkEntry(settings)).toEqual({
      id: 'config-windows-script',
      seen: 'shop: "npx"',
      hint: '"command": "cmd", "args": ["/c","npx","-y","@acme/shop"]',
    })
    expect(checkEntry({ ...settings, entry: { command: 'C:\\a\\b.exe', args: ['C:\\me\\x'] } })).toBeUndefined()
  })

  it('nothing in settings that hosts can use', async () => {
    const folder = await folderWith({ 'server.js': '', 'my program': '#!/bin/sh\n' })
    await chmod(join(folder, 'my program'), 0o755)
    for (const [host, content] of [
      [
        'cursor',
        servers({ command: 'node', args: ['--import', '@scope/x', join(folder, 'server.js')], env: { A: 'b' } }),
      ],
      ['cursor', servers({ command: join(folder, 'my program') })],
      ['cursor', `{ // mine\n "mcpServers": { "a": { "url": "http://localhost:3000/mcp" }, } }`],
      ['cursor', servers({ command: 'node', args: ['server.js'], cwd: folder })],
      ['cursor', servers({ command: 'no-such-program', disabled: true })],
      ['claude-code', { mcpServers: { a: { type: 'http', url: 'https://${HOST:-a.example}/mcp' } }, projects: {} }],
      ['claude-code', servers({ ...shop, env: { KEY: '${SOME_KEY}' } })],
      ['claude-desktop', servers(shop)],
      [
        'vs-code',
        { inputs: [], servers: { shop: { ...shop, env: { KEY: '${input:key}', F: '${workspaceFolder}' } } } },
      ],
      ['windsurf', servers({ serverUrl: 'https://a.example/mcp', disabledTools: [] })],
      ['gemini', { theme: 'x', mcpServers: { a: { httpUrl: 'https://a.example' }, b: { url: 'https://b.example' } } }],
      ['codex', '[mcp_servers.a]\nurl = "https://a.example/mcp"\nbearer_token_env_var = "X"\nstartup_timeout_sec = 5'],
      [
        'goose',
        'extensions:\n  developer:\n    type: builtin\n    enabled: true\n  a:\n    type: stdio\n    cmd: node\n    envs: {}',
      ],
      [
        'cursor',
        servers({
          ...shop,
          envFile: '.env',
          auth: {},
          oauth: {},
          alwaysAllow: [],
          autoApprove: [],
          tools: [],
          icon: 'x',
        }),
      ],
      ['vs-code', { servers: { shop: { ...shop, type: 'stdio', dev: {}, gallery: true, version: '1', sandbox: {} } } }],
      [
        'gemini',
        servers({ ...shop, trust: true, timeout: 5, includeTools: [], excludeTools: [], authProviderType: 'x' }),
      ],
      ['cursor', ''],
    ] as const) {
      expect([host, await diagnose(host, content, { SOME_KEY: 'k' })]).toEqual([host, []])
    }
  })

  it('each finding about settings in at least one test', async () => {
    const ids = Object.keys(FINDINGS).filter((id) => id.startsWith('config-'))
    const { readFile } = await import('node:fs/promises')
    const tests = await readFile(new URL(import.meta.url), 'utf8')
    expect(ids.filter((id) => !tests.includes(`'${id}'`))).toEqual([])
    expect(ids).toHaveLength(17)
  })
})

it('finds programs as the platform does', async () => {
  const folder = await folderWith({ 'run.CMD': '', plain: '' })
  await chmod(join(folder, 'run.CMD'), 0o755)
  const machine = (platform: 'linux' | 'win32'): Machine => ({
    platform,
    home: '',
    cwd: folder,
    env: { PATH: folder, PATHEXT: '.EXE;.CMD' },
  })
  expect(programExists('run.CMD', machine('linux'))).toBe(true)
  expect(programExists('run', machine('linux'))).toBe(false)
  expect(programExists('plain', machine('linux'))).toBe(false)
  expect(programExists('./run.CMD', machine('linux'))).toBe(true)
})

describe('mcpx doctor --config', () => {
  it('checks the settings of the project and of the user, with fixes', async () => {
    const text = JSON.stringify(servers({ command: 'no-such-program' }))
    const cwd = await folderWith({
      '.git/HEAD': '',
      '.mcp.json': text,
      '.cursor/mcp.json': JSON.stringify(servers({ url: 'https://a.example/mcp' })),
    })
    const { code, stdout } = await mcpx(['doctor', '--config', '--fix-hints'], { cwd })
    expect(code).toBe(1)
    expect(stdout).toContain(
      `error: config-command\n  seen  ${join(cwd, '.mcp.json')}: mcpServers.shop: "no-such-program"\n`,
    )
    expect(stdout).toContain('\n\n  settings:\n    "command": "/full/path/of/no-such-program"')
    expect(stdout).toContain(`ok ${join(cwd, '.cursor/mcp.json')}: 1 server checked`)
    const { files, findings } = (await mcpx(['doctor', '--config', '--json'], { cwd })).json<{
      files: object[]
      findings: object[]
    }>()
    expect(files).toContainEqual({ file: join(cwd, '.mcp.json'), host: 'claude-code', servers: ['shop'] })
    expect(findings).toEqual([expect.not.objectContaining({ hint: expect.anything() })])
  }, 60_000)

  it('checks one file, and refuses other words', async () => {
    const cwd = await folderWith({ 'mine.json': JSON.stringify({ servers: { shop: { command: 'node', arg: [] } } }) })
    const one = await mcpx(['doctor', '--config', 'mine.json', '--json'], { cwd })
    expect(one.json<{ findings: { id: string }[] }>().findings.map(({ id }) => id)).toEqual(['config-key'])
    for (const [file, text, host] of [
      ['mcp_config.json', servers(shop), 'windsurf'],
      ['.vscode/mcp.json', { servers: { shop } }, 'vs-code'],
      ['other.json', { servers: { shop } }, 'vs-code'],
      ['other.json', servers({ url: 'https://a.example/mcp' }), 'cursor'],
      ['other.yaml', { extensions: { shop: { type: 'stdio', cmd: process.execPath } } }, 'goose'],
    ] as const) {
      const folder = await folderWith({ [file]: JSON.stringify(text) })
      const found = await mcpx(['doctor', '--config', file, '--json'], { cwd: folder })
      const path = join(folder, file)
      expect(found.json()).toMatchObject({ files: [{ file: path, host, servers: ['shop'] }], findings: [] })
    }
    expect((await mcpx(['doctor', '--config', 'none.json'], { cwd })).stderr).toContain('none.json does not exist')
    const none = await mcpx(['doctor', '--config'], { cwd })
    expect([none.code, none.stderr]).toEqual([0, 'No settings files of hosts were found.\n'])
    const empty = await mcpx(['doctor'], { cwd })
    expect([empty.code, empty.stderr]).toEqual([
      2,
      expect.stringContaining('doctor: expected a server\nWrite "mcpx doctor <server>"'),
    ])
  }, 60_000)
})
