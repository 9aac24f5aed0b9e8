import { type Context, invalidParams, type JsonObject, looksSecret } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { InputRequired } from '../errors.ts'
import { type Endpoint, wrap } from '../middleware.ts'
import { inputRequired } from '../results.ts'
import { approve } from './approve.ts'
import { type AuditEntry, type AuditOptions, audit } from './audit.ts'

const baseCtx = {
  auth: { subject: 'ann', clientId: 'app', scopes: [] },
  client: { info: { name: 'host', version: '2', title: 'Host' }, capabilities: {} },
  signal: new AbortController().signal,
} as unknown as Context

const ok: Endpoint = () => ({ content: [] })
const text = JSON.stringify

/** Returns the result of a tool whose call was not approved. */
const declining: Endpoint = ({ params }, ctx) =>
  wrap([approve({ ask: () => false })], () => ({ tools: [{ name: params.name, inputSchema: { type: 'object' } }] }))(
    { method: 'tools/call', params },
    { ...ctx, step: (_key: string, run: () => unknown) => Promise.resolve(run()) } as Context,
  )

async function entriesOf(
  endpoint: Endpoint,
  params: JsonObject = { name: 't' },
  { method = 'tools/call', ctx = baseCtx, ...options }: AuditOptions & { method?: string; ctx?: Context } = {},
) {
  const entries: AuditEntry[] = []
  const run = wrap([audit((entry) => void entries.push(entry), options)], endpoint)
  const outcome = await Promise.resolve(run({ method, params }, ctx)).catch((error: unknown) => error)
  return { entries, entry: entries[0] as AuditEntry, outcome }
}

describe('an audit entry', () => {
  it('contains subject, target, time and outcome', async () => {
    const before = Date.now()
    const { entries, entry } = await entriesOf(ok, {
      name: 'search',
      arguments: { q: 'cats', n: 3, deep: [true, null] },
    })
    expect(entries).toHaveLength(1)
    expect(entry).toEqual({
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      method: 'tools/call',
      target: 'search',
      subject: 'ann',
      clientId: 'app',
      client: { name: 'host', version: '2' },
      arguments: { q: 'cats', n: 3, deep: [true, null] },
      outcome: 'ok',
      errorCode: undefined,
      duration: expect.any(Number),
    })
    expect(Date.parse(entry.at)).toBeGreaterThanOrEqual(before - 1)
    expect(entry.duration).toBeGreaterThanOrEqual(0)
  })

  it('has a length that is a number', () => {
    const expected = 'audit: maxLength: expected a number from 0, got NaN'
    expect(() => audit(() => {}, { maxLength: Number.NaN })).toThrow(expected)
  })

  it('may have no subject', async () => {
    const ctx = { ...baseCtx, auth: undefined, client: { info: undefined, capabilities: {} } } as Context
    const { entry } = await entriesOf(ok, {}, { ctx, method: 'tools/list' })
    expect(entry).toMatchObject({ subject: undefined, client: undefined, target: undefined, arguments: undefined })
  })

  it.each([
    ['a result', ok, 'ok', undefined],
    ['a failed tool', () => ({ content: [], isError: true }), 'tool-error', undefined],
    ['a tool that was not approved', declining, 'declined', undefined],
    ['questions', () => inputRequired({ a: { method: 'roots/list' } }), 'input-required', undefined],
    ['an open input request', () => Promise.reject(new InputRequired()), 'input-required', undefined],
    ['a protocol error', () => Promise.reject(invalidParams('no')), 'error', -32602],
    ['an unexpected error', () => Promise.reject(new Error('secret')), 'error', -32603],
    [
      'a synchronous unexpected error',
      () => {
        throw new Error('secret')
      },
      'error',
      -32603,
    ],
  ] as [string, Endpoint, string, number | undefined][])('tells of %s', async (_, endpoint, outcome, errorCode) => {
    const { entry } = await entriesOf(endpoint)
    expect(entry).toMatchObject({ outcome, errorCode })
    expect(text(entry)).not.toContain('secret')
  })

  it('records failures after the caller has disconnected', async () => {
    const ctx = { ...baseCtx, signal: AbortSignal.abort() } as Context
    expect((await entriesOf(() => Promise.reject(new Error('x')), {}, { ctx })).entry.outcome).toBe('cancelled')
    expect((await entriesOf(() => ({ isError: true }), {}, { ctx })).entry.outcome).toBe('cancelled')
    expect((await entriesOf(ok, {}, { ctx })).entry.outcome).toBe('ok')
  })

  it('records an input request that the handler swallowed', async () => {
    const ctx = { ...baseCtx, asker: { unfinished: () => inputRequired({}) } } as unknown as Context
    expect((await entriesOf(ok, {}, { ctx })).entry.outcome).toBe('input-required')
  })

  it('contains the names of prompts, resources and completed references', async () => {
    const target = async (params: JsonObject) => (await entriesOf(ok, params)).entry.target
    expect(await target({ uri: 'note://1' })).toBe('note://1')
    expect(await target({ ref: { type: 'ref/prompt', name: 'review' } })).toBe('review')
    expect(await target({ ref: { type: 'ref/resource', uri: 'note://{id}' } })).toBe('note://{id}')
    expect(await target({ name: 'x'.repeat(500) })).toHaveLength(201)
    expect(await target({ name: 7 })).toBeUndefined()
    const completion = { argument: { name: 'city', value: 'Par' }, context: { arguments: { country: 'fr' } } }
    expect((await entriesOf(ok, completion)).entry.arguments).toEqual({ country: 'fr', city: 'Par' })
  })

  it('contains the original arguments, also if the handler changes them', async () => {
    const endpoint: Endpoint = ({ params }) => Object.assign(params.arguments as object, { q: 'changed' })
    expect((await entriesOf(endpoint, { name: 't', arguments: { q: 'cats' } })).entry.arguments).toEqual({ q: 'cats' })
  })
})

describe('secrets', () => {
  it.each([
    'password',
    'passwd',
    'dbPassword',
    'api_key',
    'API-KEY',
    'apiKey',
    'accessToken',
    'token',
    'client_secret',
    'Authorization',
    'Set-Cookie',
    'privateKey',
    'pin',
    'CVV',
    'X-Auth-Token',
    'totp',
    'credentials',
    'passphrase',
  ])('are under %s', (key) => {
    expect(looksSecret(key)).toBe(true)
  })

  it.each(['pinned', 'author', 'keyword', 'path', 'compass', 'query', 'opinion', 'spin', 'option', 'key', 'name'])(
    'are not under %s',
    (key) => {
      expect(looksSecret(key)).toBe(false)
    },
  )

  it('are never recorded, at any depth and in any form', async () => {
    const args = {
      password: 'S3CRET',
      list: [{ nested: { api_key: { whole: 'S3CRET' } } }],
      headers: [
        { name: 'Authorization', value: 'S3CRET' },
        { key: 'cookie', value: 'S3CRET' },
        { name: 'Accept', value: 'json' },
      ],
      url: 'https://ann:S3CRET@example.com/p?access_token=S3CRET&q=1#id_token=S3CRET',
      ['__proto__']: { token: 'S3CRET' },
      json: '{"a": 1, "token": ["S3CRET"], "env": [{"name": "DB_PASSWORD", "value": "S3CRET"}]}',
      cut: `${'x'.repeat(200)} {"password": "${'S3CRET'.repeat(300)}"}`,
      header: 'Authorization: Bearer S3CRET-S3CRET',
      variables: 'API_KEY=S3CRET DEBUG=1',
    }
    const { entry } = await entriesOf(ok, { name: 't', arguments: args })
    expect(text(entry)).not.toContain('S3CRET')
    expect(entry.arguments).toMatchObject({
      password: '[redacted]',
      headers: [{ name: 'Authorization', value: '[redacted]' }, { key: 'cookie' }, { value: 'json' }],
      url: 'https://[redacted]@example.com/p?access_token=[redacted]&q=1#id_token=[redacted]',
    })
    const completion = { argument: { name: 'password', value: 'S3CRET' } }
    expect(text((await entriesOf(ok, completion)).entry)).not.toContain('S3CRET')
    expect((await entriesOf(ok, { uri: 'db://u:S3CRET@h/x?sig=1&token=S3CRET' })).entry.target).toBe(
      'db://[redacted]@h/x?sig=1&token=[redacted]',
    )
  })

  it('can be defined by the option', async () => {
    const args = { color: 'red', password: 'p' }
    const { entry } = await entriesOf(ok, { arguments: args }, { isSecret: (key) => key === 'color' })
    expect(entry.arguments).toEqual({ color: '[redacted]', password: 'p' })
  })
})

describe('the size of an entry', () => {
  const deep = (depth: number): JsonObject => (depth === 0 ? { end: true } : { in: deep(depth - 1) })

  it.each([
    ['a long string', { q: 'x'.repeat(1e6) }],
    ['many members', Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, at]))],
    ['a long list', { q: Array.from({ length: 100_000 }, (_, at) => at) }],
    ['many lists', { q: Array.from({ length: 10_000 }, () => [[]]) }],
    ['a deep value', deep(2_000)],
    ['a long key', { ['k'.repeat(100_000)]: 1 }],
  ])('is bounded for %s', async (_, args) => {
    const { entry } = await entriesOf(ok, { arguments: args })
    expect(text(entry).length).toBeLessThan(12_000)
  })

  it('is bounded in depth', async () => {
    const { entry } = await entriesOf(ok, { arguments: deep(20) })
    expect(text(entry.arguments).split('{')).toHaveLength(9)
    expect(text(entry.arguments)).toContain('[left out]')
  })

  it('marks omitted content', async () => {
    const args = { a: 'x'.repeat(100), b: [1, 2, 3], c: 'y' }
    const { entry } = await entriesOf(ok, { arguments: args }, { maxLength: 50 })
    expect(entry.arguments).toEqual({ a: `${'x'.repeat(35)}…`, '…': '[left out]' })
  })
})

describe('the work of an entry', () => {
  const workOf = (uri: string) => {
    const run = wrap([audit(() => {})], ok)
    const before = process.threadCpuUsage()
    void run({ method: 'resources/read', params: { uri } }, baseCtx)
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }

  it.each(['?', '&', '#', '?a', '&a=', '://', '@', '=', 'a'])('is linear in a URI that repeats %s', (part) => {
    const uri = (length: number) => `a://${part.repeat(length)}`
    const work = (length: number) => Math.min(...[1, 2, 3].map(() => workOf(uri(length))))
    // At most 16 times as long for 8 times the length, apart from what cannot be measured exactly.
    expect(work(64_000)).toBeLessThan(16 * work(8_000) + 100)
  })
})

describe('the audit writer', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('disk full')
      },
    ],
    ['rejects', () => Promise.reject(new Error('disk full'))],
  ])('does not affect the result if it %s, and is reported', async (_, write) => {
    const reported: unknown[] = []
    const onError = (error: unknown, entry: AuditEntry) => void reported.push((error as Error).message, entry.method)
    const run = wrap([audit(write, { onError })], ok)
    expect(await run({ method: 'tools/call', params: {} }, baseCtx)).toEqual({ content: [] })
    await new Promise((resolve) => setTimeout(resolve))
    expect(reported).toEqual(['disk full', 'tools/call'])
  })

  it('may fail without onError, or with an onError that fails too', async () => {
    const write = () => Promise.reject(new Error('disk full'))
    const onError = () => {
      throw new Error('also broken')
    }
    for (const options of [{}, { onError }]) {
      const run = wrap([audit(write, options)], ok)
      expect(await run({ method: 'tools/call', params: {} }, baseCtx)).toEqual({ content: [] })
    }
    await new Promise((resolve) => setTimeout(resolve))
  })

  it('is not awaited', async () => {
    const run = wrap([audit(() => new Promise<void>(() => {}))], ok)
    expect(await run({ method: 'tools/call', params: {} }, baseCtx)).toEqual({ content: [] })
  })

  it('does not change an error', async () => {
    const error = invalidParams('no')
    const { outcome } = await entriesOf(() => Promise.reject(error))
    expect(outcome).toBe(error)
  })
})
