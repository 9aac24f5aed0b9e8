import { isReservedMetaKey, RpcError } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { createFullServer, EVERY_REQUEST } from './full-server.ts'
import { closeAll, connectLegacyRawClient, connectRawClient, KEY, MODERN, meta, turn } from './raw-client.ts'

afterEach(closeAll)

const forms = { elicitation: { form: {} } }

describe('the messages of a server', () => {
  it('are JSON-RPC 2.0 messages in all three patterns [S-001]', async () => {
    const server = createFullServer()
    const client = connectRawClient(server)
    for (const [method, params] of EVERY_REQUEST) expect(await client.call(method, params)).toHaveProperty('result')
    expect((await client.call('tools/call', { name: 'ask' }, forms)).result).toMatchObject({
      resultType: 'input_required',
    })
    client.send({
      id: 'l',
      method: 'subscriptions/listen',
      params: { notifications: { toolsListChanged: true }, _meta: meta() },
    })
    await turn()
    server.removeTool('log')
    await turn()
    expect(client.notificationMethods()).toEqual(['subscriptions/acknowledged', 'tools/list_changed'])
    for (const message of client.received) expect(message.jsonrpc).toBe('2.0')
  })

  it('contain no requests, even if a handler needs input [S-002]', async () => {
    const client = connectRawClient(createFullServer())
    await client.call('tools/call', { name: 'twice' }, { ...forms, roots: {} })
    await client.call('prompts/get', { name: 'greet', arguments: { name: '?' } }, forms)
    expect(client.received.filter((each) => 'method' in each)).toEqual([])
    expect(client.received).toHaveLength(2)
  })

  it.each([1, 0, -7, 'a', '', '1'])('have the id %j of the request, with the same type [S-003]', async (id) => {
    const client = connectRawClient(createFullServer())
    expect(await client.ask('tools/list', { _meta: meta() }, id)).toMatchObject({ id, result: {} })
    expect(await client.ask('no/method', { _meta: meta() }, id)).toMatchObject({ id, error: { code: -32601 } })
  })

  it('contain the type of each result', async () => {
    const client = connectRawClient(createFullServer())
    for (const [method, params] of EVERY_REQUEST) {
      expect([method, (await client.call(method, params)).result?.resultType]).toEqual([method, 'complete'])
    }
    expect((await client.call('tools/call', { name: 'fail' })).result).toMatchObject({ resultType: 'complete' })
    expect((await client.call('tools/call', { name: 'ask' }, forms)).result?.resultType).toBe('input_required')
  })

  it('have errors with an integer code and one sentence [S-005]', async () => {
    const client = connectRawClient(createFullServer())
    const wrong: [string, object][] = [
      ['no/method', {}],
      ['tools/call', {}],
      ['tools/call', { name: 'nobody' }],
      ['resources/read', { uri: 'note://gone' }],
      ['prompts/get', { name: 'greet' }],
      ['tools/list', { cursor: 'x' }],
      ['tools/call', { name: 'ask' }],
    ]
    for (const [method, params] of wrong) {
      const { error } = await client.call(method, params)
      expect(Number.isInteger(error?.code)).toBe(true)
      expect(error?.message).toMatch(/^[^\n]{5,200}$/)
    }
  })

  it.each(['notifications/initialized', 'notifications/unknown', 'tools/list', 'notifications/cancelled'])(
    'contain no response to the notification %s [S-006]',
    async (method) => {
      const client = connectRawClient(createFullServer())
      client.send({ method, params: { _meta: meta() } })
      client.send({ method })
      await turn()
      expect(client.received).toEqual([])
    },
  )

  it('use error codes of the modern era', async () => {
    const client = connectRawClient(createFullServer())
    const answers = [
      await client.call('resources/read', { uri: 'note://gone' }),
      await client.call('resources/read', { uri: 'x:unknown' }),
      await client.call('tools/call', { name: 'ask' }),
      await client.call('no/method'),
      await client.call('tools/list', { cursor: 'x' }),
      await client.ask('tools/list'),
      await client.ask('tools/list', { _meta: meta({}, { [`${KEY}protocolVersion`]: '2031-01-01' }) }),
      await client.call('tools/call', { name: 'echo', requestState: 'x' }),
    ]
    expect(answers.map(({ error }) => error?.code)).toEqual([
      -32602, -32602, -32021, -32601, -32602, -32600, -32022, -32602,
    ])
  })

  it('do not depend on earlier messages of the connection [S-009]', async () => {
    const server = createServer({ name: 's', version: '1' }).tool('who', {}, (_, ctx) => [
      JSON.stringify([ctx.client.info?.name ?? null, Object.keys(ctx.client.capabilities)]),
    ])
    const client = connectRawClient(server)
    const who = async (_meta: object) => (await client.ask('tools/call', { name: 'who', _meta })).result?.content
    const named = meta(forms, { [`${KEY}clientInfo`]: { name: 'ann', version: '1' } })
    expect(await who(named)).toEqual([{ type: 'text', text: '["[\\"ann\\",[\\"elicitation\\"]]"]' }])
    expect(await who(meta())).toEqual([{ type: 'text', text: '["[null,[]]"]' }])
    expect((await client.ask('tools/list', {})).error?.code).toBe(-32600)
  })

  it('may belong to independent concurrent calls [S-010]', async () => {
    const client = connectRawClient(createFullServer())
    const texts = Array.from({ length: 50 }, (_, index) => `${index}`)
    const answers = await Promise.all(
      texts.map((text) => client.call('tools/call', { name: 'echo', arguments: { text } })),
    )
    expect(answers.map(({ result }) => result?.structuredContent)).toEqual(texts.map((text) => ({ text })))
  })
})

describe('the metadata of a request', () => {
  const without = (key: string) => {
    const { [`${KEY}${key}`]: _, ...rest } = meta()
    return rest
  }

  it.each(['tools/list', 'server/discover', 'no/method'])(
    'needs a version and capabilities, but no client info: %s [S-012]',
    async (method) => {
      const client = connectRawClient(createFullServer({ legacy: false }))
      for (const key of ['protocolVersion', 'clientCapabilities']) {
        const { error } = await client.ask(method, { _meta: without(key) })
        expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(key) })
      }
      const { error } = await client.ask(method, { _meta: meta() })
      expect(error?.code).not.toBe(-32602)
    },
  )

  it.each(['2031-01-01', '2025-11-25', '', 'x'])('is rejected with the version %j [S-013]', async (requested) => {
    const client = connectRawClient(createFullServer())
    const { error } = await client.ask('tools/list', { _meta: meta({}, { [`${KEY}protocolVersion`]: requested }) })
    expect(error).toMatchObject({ code: -32022, data: { supported: [MODERN], requested } })
  })

  it('determines the allowed input requests, and an error names missing capabilities [S-014]', async () => {
    const client = connectRawClient(createFullServer())
    expect((await client.call('tools/call', { name: 'ask' })).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    })
    const { error } = await client.call('tools/call', { name: 'ask' }, { elicitation: { url: {} } })
    expect(error?.code).toBe(-32021)
    expect((await client.call('tools/call', { name: 'ask' }, { elicitation: {} })).result).toBeDefined()
  })

  it('has no effect by the name of the client [S-016]', async () => {
    const client = connectRawClient(createFullServer())
    const ask = async (_meta: object) => (await client.ask('tools/list', { _meta })).result
    const plain = await ask(meta())
    for (const name of ['admin', 'claude', '__proto__']) {
      expect(await ask(meta({}, { [`${KEY}clientInfo`]: { name, version: '1' } }))).toEqual(plain)
    }
  })

  it('may contain unknown reserved keys and trace context [S-018, S-019]', async () => {
    const trace = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'a=1',
      baggage: 'k=v',
    }
    const server = createServer({ name: 's', version: '1' }).tool('meta', {}, (_, ctx) => ctx.meta)
    const client = connectRawClient(server)
    const _meta = meta({}, { ...trace, [`${KEY}later`]: [1], 'com.example/own': null })
    const { result } = await client.ask('tools/call', { name: 'meta', _meta })
    const [block] = (result?.content ?? []) as { text: string }[]
    expect(JSON.parse(`${block?.text}`)).toEqual(_meta)
  })
})

describe('the metadata of a result', () => {
  it('contains the server info and no unspecified reserved keys [S-015, S-017]', async () => {
    const client = connectRawClient(createFullServer())
    for (const [method, params] of EVERY_REQUEST) {
      const found = (await client.call(method, params)).result?._meta as object
      expect(found).toEqual({ [`${KEY}serverInfo`]: { name: 'full', version: '1.0.0' } })
      expect(Object.keys(found).every(isReservedMetaKey)).toBe(true)
    }
  })
})

describe('state between requests', () => {
  it('is passed by the client, also to another server with the same secret [S-011]', async () => {
    const secrets = ['a secret of enough characters']
    const [one, other] = [createFullServer({ secrets }), createFullServer({ secrets })]
    const first = await connectRawClient(one).call('tools/call', { name: 'twice' }, { ...forms, roots: {} })
    expect(Object.keys(first.result?.inputRequests as object)).toEqual(['one'])
    const answers = { one: { action: 'accept', content: { name: 'x' } } }
    const retry = { name: 'twice', inputResponses: answers }
    const second = await connectRawClient(other).call('tools/call', retry, { ...forms, roots: {} })
    expect(Object.keys(second.result?.inputRequests as object)).toEqual(['two'])
    const { requestState } = second.result ?? {}
    const third = { name: 'twice', requestState, inputResponses: { two: { roots: [{ uri: 'file:///w' }] } } }
    const { result } = await connectRawClient(one).call('tools/call', third, { ...forms, roots: {} })
    expect(result?.content).toEqual([{ type: 'text', text: 'file:///w' }])
  })
})

describe('extensions', () => {
  it('are not declared, and their methods are unknown [S-020, S-021]', async () => {
    const client = connectRawClient(createFullServer())
    const { result } = await client.call('server/discover')
    expect(result?.capabilities).not.toHaveProperty('extensions')
    for (const method of ['tasks/get', 'tasks/update', 'com.example/do']) {
      const { error } = await client.call(method, { taskId: 'x' }, { extensions: { 'com.example/x': {} } })
      expect(error?.code).toBe(-32601)
    }
    const call = { name: 'echo', arguments: { text: 'x' } }
    expect((await client.call('tools/call', call, { extensions: { 'com.example/x': {} } })).result?.resultType).toBe(
      'complete',
    )
  })
})

describe('both eras', () => {
  it('are served on one connection [S-023]', async () => {
    const client = await connectLegacyRawClient(createFullServer())
    expect((await client.ask('tools/list', {})).result).not.toHaveProperty('resultType')
    expect((await client.call('tools/list')).result).toHaveProperty('resultType')
    expect((await client.ask('ping', {})).result).toEqual({})
    expect((await client.call('ping')).error?.code).toBe(-32601)
  })

  it('are not both served if one is turned off, and the error names the supported versions [S-022]', async () => {
    const client = connectRawClient(createFullServer({ legacy: false }))
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    expect((await client.ask('initialize', params)).error?.message).toContain(MODERN)
  })

  it('have different error codes for a missing resource', async () => {
    const server = createServer(
      { name: 's', version: '1' },
      {
        listResources: () => ({ resources: [] }),
        readResource: ({ uri }) => {
          throw new RpcError(-32602, 'gone', { data: { uri } })
        },
      },
    )
    expect((await connectRawClient(server).call('resources/read', { uri: 'a:b' })).error?.code).toBe(-32602)
    const older = await connectLegacyRawClient(server)
    expect((await older.ask('resources/read', { uri: 'a:b' })).error?.code).toBe(-32002)
  })
})
