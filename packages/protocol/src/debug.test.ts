import { afterEach, describe, expect, it, vi } from 'vitest'
import { createDebugObserver } from './debug.ts'
import { createDuplex, decode, type Message } from './index.ts'
import { createChannelPair } from './memory.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

/** Returns the lines of one message. */
function linesOf(message: object): string[] {
  const lines: string[] = []
  createDebugObserver('client', (line) => void lines.push(line))?.('out', message as Message)
  return lines
}

const call = (args: object) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x', arguments: args } })

describe('the debug observer', () => {
  it('writes each message in one line, with its direction', () => {
    const lines: string[] = []
    const observe = createDebugObserver('server', (line) => void lines.push(line))
    observe?.('in', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { text: 'a\nb' } })
    observe?.('out', { jsonrpc: '2.0', id: 1, result: {} })
    observe?.('in', decode('{"jsonrpc": "2.0"}'))
    expect(lines).toEqual([
      'mcpx server <- {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"text":"a\\nb"}}',
      'mcpx server -> {"jsonrpc":"2.0","id":1,"result":{}}',
      expect.stringMatching(/^mcpx server <- invalid message: /),
    ])
  })

  it.each([
    { password: 'hunter22' },
    { client_secret: 'hunter22' },
    { apiKey: 'hunter22' },
    { 'x-api-key': 'hunter22' },
    { accessToken: 'hunter22' },
    { Authorization: 'hunter22' },
    { pin: { cookie: 'hunter22' } },
    { header: 'Bearer hunter22' },
    { text: '{"a":"b","secret":"hunter22\\"hunter22"}' },
    { url: 'postgres://ada:hunter22@db/x' },
    { url: 'https://a.example/mcp?team=a&access_token=hunter22#x' },
    { url: 'https://a.example/mcp?apiKey=hunter22' },
    { jwt: 'eyJhbGciOiJIUzI1NiJ9.hunter22.x' },
    { headers: { 'set-cookie': ['sid=hunter22; Path=/', 'b=hunter22'] } },
    { cookies: [{ name: 'sid', value: 'hunter22', domain: 'a.example' }] },
    { credentials: { user: 'ada', value: 'hunter22' } },
    { text: ' {"headers": {"set-cookie": ["sid=hunter22"], "body": "{\\"token\\": [\\"hunter22\\"]}"}}' },
    { secrets: { database: 'hunter22', ports: [{ a: 'hunter22' }] } },
    { text: 'HTTP/1.1 200 OK\r\nSet-Cookie: sid=hunter22; Path=/\r\nServer: x' },
    { curl: 'curl -H "Authorization: token hunter22" -H "Cookie: a=b; c=hunter22" https://a.example' },
    { env: 'API_KEY=hunter22\nDB_PASSWORD="hunter22"' },
    { yaml: 'password: hunter22' },
    { text: '{"body":"{\\"access_token\\":\\"hunter22\\",\\"a\\":1}"}' },
    { url: 'https://hunter22hunter22hunter22@github.com/a/b' },
    { url: 'https://a.example/cb#access_token=hunter22&a=b' },
    { url: 'https://a.example/cb?code=hunter22&state=1' },
    { url: 'https://a.blob.example/c?sv=1&sig=hunter22' },
    { url: 'https://s3.example/c?X-Amz-Signature=hunter22' },
    { text: 'use ghp_hunter22hunter22hunter22 here' },
    { text: 'sk-proj-hunter22hunter22hunter22' },
    { text: 'STRIPE=sk_live_hunter22hunter22 and whsec_hunter22hunter22' },
    { text: 'AWS_SECRET_ACCESS_KEY=hunter22' },
    { text: 'AccountName=a;AccountKey=hunter22==;EndpointSuffix=b' },
    { access_key: 'hunter22', pin: 'hunter22', jwt: 'hunter22' },
    { env: [{ name: 'DB_PASSWORD', value: 'hunter22' }] },
    { text: '{"env":[{"key":"API_KEY","value":"hunter22"}]}' },
    { text: '-----BEGIN RSA PRIVATE KEY-----\nhunter22\nab+/=\n-----END RSA PRIVATE KEY-----' },
  ])('redacts secrets: %j', (args) => {
    const [line = ''] = linesOf(call(args))
    expect(line).not.toContain('hunter22')
    expect(line).toContain('[redacted]')
  })

  it.each(['x', '\\n'])('redacts a secret within a string that is cut: %j', (character) => {
    for (const length of [5_000, 5_001]) {
      const [line = ''] = linesOf(call({ text: JSON.stringify({ privateKey: `hunter22${character.repeat(length)}` }) }))
      expect(line).not.toContain('hunter22')
    }
  })

  it('shows names that are not secrets', () => {
    const params = {
      progressToken: 7,
      tokens: 3,
      query: 'the token of my heart',
      basic: 'Basic colors',
      json: '{"a":  [1,\n2], "password": true}',
      uses: 'sk-learn-pipelines',
      repository: 'ssh://git@github.com/a/b',
      pair: { name: 'colour', value: 'red' },
      argument: { name: 'password', description: 'at least 8' },
      shipping: 'pinned, opt in',
      keys: 'access keys: 3',
      country: 'https://a.example/?country_code=NO',
      schema: { properties: { password: { type: 'string', description: 'at least 8' } }, required: ['password'] },
    }
    expect(linesOf(call(params))[0]).toContain(JSON.stringify(params))
  })

  it('cuts long strings and long lines', () => {
    expect(linesOf(call({ text: 'x'.repeat(5_000) }))[0]).toContain(`${'x'.repeat(200)}… (5000 characters)`)
    const [line = ''] = linesOf(call({ list: Array.from({ length: 10_000 }, () => 'x') }))
    expect(line.length).toBeLessThan(2_100)
    expect(line).toMatch(/… \(\d+ characters\)$/)
  })

  it('never throws', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    expect(linesOf(cyclic)).toEqual([])
    const failing = createDebugObserver('client', () => {
      throw new Error('x')
    })
    expect(() => failing?.('in', call({}) as Message)).not.toThrow()
  })

  it('follows MCPX_DEBUG, unless the option says otherwise', () => {
    for (const value of ['', '0', 'false']) {
      vi.stubEnv('MCPX_DEBUG', value)
      expect(createDebugObserver('client')).toBeUndefined()
    }
    vi.stubEnv('MCPX_DEBUG', '1')
    expect(createDebugObserver('client', false)).toBeUndefined()
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    createDebugObserver('client')?.('in', call({}) as Message)
    expect(write.mock.calls).toEqual([[expect.stringMatching(/^mcpx client <- \{"jsonrpc".*\}\n$/)]])
  })

  it('works on runtimes without a process, and asks no permission of Deno', () => {
    vi.stubEnv('MCPX_DEBUG', '1')
    vi.stubGlobal('Deno', { permissions: { querySync: () => ({ state: 'prompt' }) } })
    expect(createDebugObserver('client')).toBeUndefined()
    vi.unstubAllGlobals()
    vi.stubGlobal('process', undefined)
    const silent = createDebugObserver('client')
    const asked = createDebugObserver('client', true)
    vi.unstubAllGlobals()
    expect(silent).toBeUndefined()
    expect(asked).toBeTypeOf('function')
  })

  it('sees the messages of a connection over a channel', async () => {
    const lines: string[] = []
    const [here, there] = createChannelPair()
    createDuplex(there, {
      responder: {
        respond: (message) => ('id' in message ? { jsonrpc: '2.0', id: message.id, result: {} } : undefined),
      },
    })
    const onMessage = createDebugObserver('client', (line) => void lines.push(line))
    const client = createDuplex(here, { onMessage })
    await client.request('ping')
    await client.close()
    expect(lines.map((line) => line.slice(0, 14))).toEqual(['mcpx client ->', 'mcpx client <-'])
  })
})
