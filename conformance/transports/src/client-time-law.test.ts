/** Checks that a client, a toolset and a login process all data of a server in linear time. */

import { oauth } from '@mcpx/auth/client'
import { connect, connectAll } from '@mcpx/client'
import type { JsonObject, RequestMessage, Responder } from '@mcpx/protocol'
import { resultMessage } from '@mcpx/protocol'
import { createToolset, geminiContent, openaiChat, searchTools } from '@mcpx/toolset'
import { http } from '@mcpx/transport-http/client'
import { describe, expect, it, vi } from 'vitest'
import { adversarialTexts, expectLinearWork } from './growth.fixture.ts'

vi.setConfig({ testTimeout: 120_000 })

type Results = Readonly<Record<string, JsonObject>>

/** A server of the legacy era that returns the given results without checks. */
function createServer(results: Results): Responder {
  return {
    async respond(message, exchange) {
      if (!('id' in message)) return undefined
      const { id, method, params } = message as RequestMessage
      if (method !== 'initialize') return resultMessage(id, results[method] ?? {})
      const protocolVersion = String(params?.protocolVersion)
      await exchange.session?.update((state) => void Object.assign(state, { revision: protocolVersion }))
      const capabilities = { tools: {}, prompts: {}, resources: {} }
      return resultMessage(id, { protocolVersion, capabilities, serverInfo: { name: 'x', version: '1' } })
    },
  }
}

const connectTo = (results: Results) => connect(createServer(results), { era: 'legacy', timeout: 120_000 })

const times = <Item>(count: number, itemOf: (n: number) => Item) =>
  Array.from({ length: Math.ceil(count) }, (_, n) => itemOf(n))
const members = (count: number, itemOf: (n: number) => unknown, prefix = 'member') =>
  Object.fromEntries(times(count, (n) => [`${prefix}${n}`, itemOf(n)]))
/** Schemas of a server, each with a value that the server sends for it. */
const schemas: Readonly<Record<string, (size: number) => readonly [schema: object, value: unknown]>> = {
  properties: (size) => [{ properties: members(size / 30, () => ({ type: 'string' })) }, members(size / 30, String)],
  'required members that are missing': (size) => [{ required: times(size / 12, (n) => `member${n}`) }, {}],
  'members that are not allowed': (size) => [{ additionalProperties: false }, members(size / 12, (n) => n)],
  'patterns of members': (size) => [
    { patternProperties: members(size / 200, () => ({ type: 'string' }), '^(a+)+$') },
    members(size / 200, String),
  ],
  'a pattern': (size) => [{ properties: { a: { pattern: '^(a+)+$' } } }, { a: `${'a'.repeat(size)}!` }],
  'an enum': (size) => [{ properties: { a: { enum: times(size / 10, (n) => `${n}`) } } }, { a: 'none' }],
  'an enum of objects': (size) => [{ properties: { a: { enum: times(size / 12, (n) => ({ n })) } } }, { a: { n: -1 } }],
  'different items': (size) => [{ properties: { a: { uniqueItems: true } } }, { a: times(size / 12, (n) => ({ n })) }],
  'alternatives for many items': (size) => [
    { properties: { a: { items: { anyOf: times(size / 400, (n) => ({ const: n })) } } } },
    { a: times(size / 10, () => 'none') },
  ],
  'references that double with each step': (size) => [
    {
      $defs: members(
        size / 80,
        (n) => ({ allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] }),
        'd',
      ),
      $ref: '#/$defs/d0',
    },
    {},
  ],
  'parts of many properties': (size) => [
    { allOf: times(size / 60, (n) => ({ properties: { [`p${n % 9}`]: { enum: [n] } }, required: [`p${n}`] })) },
    {},
  ],
  'references in a circle': (size) => [
    { $defs: members(size / 50, (n) => ({ $ref: `#/$defs/d${n + 1}` }), 'd'), $ref: '#/$defs/d0' },
    {},
  ],
  'a long reference': (size) => [{ $ref: `#${'/a'.repeat(size / 2)}` }, {}],
  'a long identifier': (size) => [{ $id: `https://x.test/${'/..'.repeat(size / 3)}`, $ref: '#' }, {}],
  'a long title': (size) => [{ title: ' '.repeat(size), description: `${'<'.repeat(size)}` }, {}],
}

const formats = [
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'iri',
  'uuid',
  'uri-template',
  'json-pointer',
  'regex',
]

describe('the work of a client', () => {
  it.each(Object.keys(schemas))('with an outputSchema of %s is linear', async (name) => {
    await expectLinearWork(async (size) => {
      const [outputSchema, structuredContent] = schemas[name]?.(size) ?? []
      const tools = [{ name: 't', inputSchema: { type: 'object' }, outputSchema: { type: 'object', ...outputSchema } }]
      const client = await connectTo({
        'tools/list': { tools } as unknown as JsonObject,
        'tools/call': { content: [], structuredContent } as unknown as JsonObject,
      })
      await client.listTools().all()
      await client.callTool('t').catch(() => {})
      await client.close()
    })
  })

  it.each(formats)('with a value of the format %s is linear', async (format) => {
    const outputSchema = { type: 'object', properties: { a: { type: 'string', format } } }
    for (const text of Object.values(adversarialTexts)) {
      await expectLinearWork(async (size) => {
        const client = await connectTo({
          'tools/list': { tools: [{ name: 't', inputSchema: { type: 'object' }, outputSchema }] },
          'tools/call': { content: [], structuredContent: { a: text(size) } },
        })
        await client.listTools().all()
        await client.callTool('t').catch(() => {})
        await client.close()
      })
    }
  })

  it('with many tools of similar names is linear, alone and in a group', async () => {
    await expectLinearWork(async (size) => {
      const name = 'x'.repeat(70)
      const tools = times(size / 100, (n) => ({ name: `${name}${n}`, inputSchema: { type: 'object' } }))
      const server = createServer({ 'tools/list': { tools } as unknown as JsonObject })
      const group = await connectAll({ one: server, two: server }, { era: 'legacy', cache: false, timeout: 120_000 })
      await group.listTools().all()
      await group.close()
    })
  })
})

describe('the work of a toolset', () => {
  it('with many tools of similar names is linear', async () => {
    await expectLinearWork(async (size) => {
      const tools = times(size / 10, (n) => ({
        name: `${'x'.repeat(70)}${n}`,
        inputSchema: { type: 'object' as const },
      }))
      const toolset = await createToolset({ listTools: () => ({ all: async () => tools }), callTool: vi.fn() })
      searchTools(toolset)
    })
  })

  it.each(Object.keys(schemas))('with an inputSchema of %s is linear', async (name) => {
    await expectLinearWork(async (size) => {
      const [schema, value] = schemas[name]?.(size) ?? []
      const tools = [{ name: 't', inputSchema: { type: 'object' as const, ...schema } }]
      const toolset = await createToolset({ listTools: () => ({ all: async () => tools }), callTool: vi.fn() })
      for (const dialect of ['openai-strict', 'gemini', 'anthropic', 'common'] as const) {
        await toolset.call('t', value, { dialect }).catch(() => {})
      }
      openaiChat(toolset)
      geminiContent(toolset)
    })
  })
})

describe('the work of a login', () => {
  const url = 'https://x.test/mcp'
  const challenges: Readonly<Record<string, (size: number) => string>> = {
    letters: (size) => 'a'.repeat(size),
    commas: (size) => `Bearer ${'a=b,'.repeat(size / 4)}`,
    quotes: (size) => `Bearer error="${'\\"'.repeat(size / 2)}`,
    spaces: (size) => `Bearer${' '.repeat(size)}x`,
    'a long scope': (size) => `Bearer error="insufficient_scope", scope="${'a '.repeat(size / 2)}"`,
    'a long URL': (size) => `Bearer resource_metadata="https://x.test/${'/..'.repeat(size / 3)}"`,
  }

  it.each(Object.keys(challenges))('with a challenge of %s is linear', async (name) => {
    await expectLinearWork(async (size) => {
      const headers = { 'www-authenticate': challenges[name]?.(size) ?? '' }
      const fetch = async () => new Response('', { status: 401, headers })
      const refuse = () => Promise.reject(new Error('no user'))
      const redirect = Object.assign(refuse, { redirectUri: 'http://127.0.0.1:1/callback' })
      const connecting = connect(http(url, { fetch, auth: oauth({ redirect }) }))
      await expect(connecting).rejects.toThrow()
    })
  })
})

describe('the work of a connection over HTTP', () => {
  const bodies: Readonly<Record<string, (size: number) => string>> = {
    'comments of one character': (size) => ':\n'.repeat(size / 2),
    'lines of data': (size) => `${'data: x\n'.repeat(size / 8)}\n`,
    'empty events': (size) => 'data:\n\n'.repeat(size / 7),
    'one long line': (size) => `data: ${'x'.repeat(size)}`,
    'carriage returns': (size) => '\r'.repeat(size),
    'long ids': (size) => times(size / 2_000, () => `id: ${'i'.repeat(1_900)}\ndata: x\n\n`).join(''),
  }

  it.each(Object.keys(bodies))('with a stream of %s is linear, in one piece and in many', async (name) => {
    for (const pieces of [1, 1_000]) {
      await expectLinearWork(async (size) => {
        const bytes = new TextEncoder().encode(bodies[name]?.(size))
        const step = Math.ceil(bytes.length / pieces)
        const fetch = async () =>
          new Response(
            new ReadableStream({
              start(controller) {
                for (let at = 0; at < bytes.length; at += step) controller.enqueue(bytes.slice(at, at + step))
                controller.close()
              },
            }),
            { headers: { 'content-type': 'text/event-stream' } },
          )
        const connecting = connect(http(url, { fetch, reconnect: { attempts: 0 } }), { connectTimeout: 60_000 })
        await expect(connecting).rejects.toThrow()
      })
    }
  })
  const url = 'https://x.test/mcp'
})
