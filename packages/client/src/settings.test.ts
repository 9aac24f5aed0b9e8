import { describe, expect, it } from 'vitest'
import { connectorTo, scriptedServer } from '../test/scripted-server.ts'
import { type Connector, connect, connectAll, fromSettings } from './index.ts'

/** Transports that record their arguments, which no connection needs. */
function recorder() {
  const calls: unknown[][] = []
  const connector = { connect: () => Promise.reject(new Error('not to be reached')) }
  const spawn = (...args: unknown[]) => {
    calls.push(['spawn', ...args])
    return connector
  }
  const http = (...args: unknown[]) => {
    calls.push(['http', ...args])
    return connector
  }
  return { calls, options: { spawn, http } }
}

const read = (entry: object, more: object = {}) => {
  const { calls, options } = recorder()
  fromSettings({ mcpServers: { git: entry } }, { ...options, ...more })
  return calls
}

describe('settings', () => {
  it('become connectors of the transports that were given', () => {
    const { calls, options } = recorder()
    const connectors = fromSettings(
      {
        mcpServers: {
          my_server: { command: 'node', args: ['server.mjs'], env: { KEY: 'a' }, cwd: '/srv' },
          plain: { command: 'git-server' },
          mail: { type: 'http', url: 'https://mail.example/mcp', headers: { authorization: 'Bearer x' } },
        },
        theme: 'dark',
      },
      options,
    )
    expect(Object.keys(connectors)).toEqual(['my_server', 'plain', 'mail'])
    expect(calls).toEqual([
      ['spawn', 'node', ['server.mjs'], { env: { KEY: 'a' }, cwd: '/srv' }],
      ['spawn', 'git-server', [], {}],
      ['http', 'https://mail.example/mcp', { headers: { authorization: 'Bearer x' } }],
    ])
  })

  it('are used by connect and connectAll', async () => {
    const server = scriptedServer('2026-07-28', { answers: { 'tools/list': () => ({ tools: [] }) } })
    const connectors = fromSettings(
      { servers: { git: { command: 'git' } } },
      { spawn: () => connectorTo(() => server) },
    )
    await using group = await connectAll(connectors)
    expect(await group.listTools().all()).toEqual([])
    await using client = await connect(connectors.git as Connector)
    expect(client.era).toBe('modern')
  })

  it.each([
    [{ serverUrl: 'https://a.example/mcp' }],
    [{ httpUrl: 'https://a.example/mcp', timeout: 5, trust: true, description: 'x', includeTools: [] }],
    [{ url: 'https://a.example/mcp', type: 'sse', alwaysAllow: [], autoApprove: [], oauth: {} }],
    [{ url: 'https://a.example/mcp', type: 'streamable-http', disabled: false, enabled: true }],
  ])('may have members of several hosts: %j', (entry) => {
    expect(read(entry)).toEqual([['http', 'https://a.example/mcp', {}]])
  })

  it('may have a server of any name that is switched off', () => {
    const servers = { '@magic/mcp': { command: 'x', disabled: true }, git: { command: 'y' } }
    expect(Object.keys(fromSettings({ mcpServers: servers }, recorder().options))).toEqual(['git'])
  })

  it('replace the inputs of VS Code by variables, and refuse those without a value', () => {
    const entry = { type: 'http', url: 'https://a.example', headers: { authorization: 'Bearer $' + '{input:api-key}' } }
    const variables = { 'input:api-key': 'secret' }
    expect(read(entry, { variables })).toEqual([
      ['http', 'https://a.example', { headers: { authorization: 'Bearer secret' } }],
    ])
    expect(() => read(entry, { variables: {} })).toThrow(
      'mcpServers.git.headers.authorization: the variable "input:api-key" has no value; set it, or write $',
    )
  })

  it.each([{ disabled: true }, { enabled: false }])('leave out a server with %j', (member) => {
    expect(read({ command: 'x', ...member })).toEqual([])
  })

  it('replace variables if their values are given', () => {
    const entry = {
      command: '$' + '{BIN:-node}',
      args: ['$' + '{env:HOME}/x', '$' + '{EMPTY:-y}', 'cost: $5'],
      env: { KEY: '$' + '{KEY}', NONE: '' },
    }
    const variables = { HOME: '/srv/a', KEY: 'k', EMPTY: '' }
    expect(read(entry, { variables })).toEqual([
      ['spawn', 'node', ['/srv/a/x', 'y', 'cost: $5'], { env: { KEY: 'k', NONE: '' } }],
    ])
    expect(read(entry)[0]?.[1]).toBe('$' + '{BIN:-node}')
    expect(() => read({ command: 'x', env: { A: '$' + '{constructor}' } }, { variables })).toThrow(
      'mcpServers.git.env.A: the variable "constructor" has no value; set it, or write $' + '{constructor:-default}',
    )
  })

  it('give servers names that groups accept', () => {
    const names = ['Sequential Thinking', '@acme/mail', '21st-dev', 'io.github.x/y', '__proto__', '', 'a'.repeat(60)]
    const entries = names.map((name) => [name, { command: 'x' }])
    const connectors = fromSettings({ mcpServers: Object.fromEntries(entries) }, recorder().options)
    expect(Object.keys(connectors)).toEqual([
      ...['Sequential_Thinking', 'acme_mail', 'server_21st-dev', 'io_github_x_y', 'proto__', 'server_', 'a'.repeat(40)],
    ])
  })

  it.each([
    [undefined, 'settings: expected an object with "mcpServers" or "servers", got nothing'],
    ['{}', 'settings: expected an object with "mcpServers" or "servers", got string'],
    [{}, 'settings: expected an object with "mcpServers" or "servers", got an empty object'],
    [
      { git: {}, mail: {} },
      'settings: expected an object with "mcpServers" or "servers", got the members "git", "mail"',
    ],
    [{ mcpServers: [] }, 'mcpServers: expected object, got array'],
    [{ servers: 3 }, 'servers: expected object, got number'],
    [{ mcpServers: { git: 'node' } }, 'mcpServers.git: expected object, got string'],
    [
      { mcpServers: { 'a b': { command: 'x' }, 'a.b': { command: 'x' } } },
      'mcpServers: "a b" and "a.b" both become "a_b"; rename one of them',
    ],
  ])('are refused with the place: %j', (settings, message) => {
    expect(() => fromSettings(settings, recorder().options)).toThrow(message)
  })

  it.each([
    [{}, 'expected either "command" or "url", got neither'],
    [{ command: 'x', url: 'https://a.example' }, 'expected either "command" or "url", got both'],
    [{ command: 3 }, '.command: expected string, got number'],
    [{ command: '' }, '.command: expected a string that is not empty'],
    [{ command: 'x', args: 'y' }, '.args: expected array, got string'],
    [{ command: 'x', args: ['y', 3] }, '.args[1]: expected string, got number'],
    [{ command: 'x', env: { PORT: 3000 } }, '.env.PORT: expected string, got number'],
    [{ command: 'x', cwd: 1 }, '.cwd: expected string, got number'],
    [{ url: 'example.com' }, '.url: expected a URL such as "https://example.com/mcp"'],
    [{ url: 'https://a.example', headers: [] }, '.headers: expected object, got array'],
    [{ url: 'https://a.example', headers: { a: 1 } }, '.headers.a: expected string, got number'],
    [{ command: 'x', type: 'http' }, '.type: expected "stdio" for a command, got "http"'],
    [
      { url: 'https://a.example', type: 'ws' },
      '.type: expected "http" or "streamable-http" or "streamableHttp" or "sse" for a url, got "ws"',
    ],
    [{ command: 'x', disabled: 'true' }, '.disabled: expected boolean, got string'],
    [{ command: 'x', enabled: 0 }, '.enabled: expected boolean, got number'],
    [{ url: 'localhost:3000/mcp' }, '.url: expected a URL such as "https://example.com/mcp"'],
    [{ cmd: 'x' }, ': there is no member "cmd"; did you mean "command"?'],
    [{ command: 'x', arg: ['y'] }, ': there is no member "arg"; did you mean "args"?'],
    [{ url: 'https://a.example', header: {} }, ': there is no member "header"; did you mean "headers"?'],
  ])('of a server are refused with the place: %j', (entry, message) => {
    expect(() => read(entry)).toThrow(TypeError)
    expect(() => read(entry)).toThrow(`mcpServers.git${message.startsWith('expected') ? `: ${message}` : message}`)
  })

  it('name the transport that is missing', () => {
    expect(() => read({ command: 'x' }, { spawn: undefined })).toThrow(
      'mcpServers.git: needs spawn of @mcpx/transport-stdio; write fromSettings(settings, { spawn })',
    )
    expect(() => read({ url: 'https://a.example' }, { http: undefined })).toThrow(
      'mcpServers.git: needs http of @mcpx/transport-http/client; write fromSettings(settings, { http })',
    )
    expect(() => read({ command: 'x' }, { spawn: 'x' })).toThrow('fromSettings: spawn: expected function, got string')
    expect(() => read({ command: 'x' }, { http: null })).toThrow('fromSettings: http: expected function, got null')
    expect(() => read({ command: 'x' }, { variables: 'A=1' })).toThrow(
      'fromSettings: variables: expected object, got string',
    )
    expect(() => read({ command: 'x' }, { stdio: 1 })).toThrow(
      'fromSettings: there is no option "stdio"; did you mean "spawn"?',
    )
  })

  it('are refused by connect, which says how to use them', async () => {
    const settings = { mcpServers: { git: { command: 'git' } } }
    await expect(connect(settings as never)).rejects.toThrow(
      'connect: expected a connector, got settings; write connectAll(fromSettings(settings, { spawn, http }))',
    )
    await expect(connectAll(settings as never)).rejects.toThrow(
      'write connectAll(fromSettings(settings, { spawn, http }))',
    )
    await expect(connect(settings.mcpServers.git as never)).rejects.toThrow(
      'connect: expected a connector, got an object with command; write connect(spawn(command, args))',
    )
    await expect(connect({ url: 'https://a.example' } as never)).rejects.toThrow('write connect(http(url))')
  })
})
