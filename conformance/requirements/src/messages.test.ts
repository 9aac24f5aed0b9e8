import { isReservedMetaKey, RpcError } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { createFullServer, EVERY_REQUEST } from './full-server.ts'
import { closeAll, connectLegacy, connectWire, KEY, MODERN, meta, turn } from './wire.ts'

afterEach(closeAll)

const forms = { elicitation: { form: {} } }

describe('a server and its messages', () => {
  it('are those of JSON-RPC 2.0, in all three patterns [S-001]', async () => {
    const server = createFullServer()
    const wire = connectWire(server)
    for (const [method, params] of EVERY_REQUEST) expect(await wire.call(method, params)).toHaveProperty('result')
    expect((await wire.call('tools/call', { name: 'ask' }, forms)).result).toMatchObject({
      resultType: 'input_required',
    })
    wire.send({
      id: 'l',
      method: 'subscriptions/listen',
      params: { notifications: { toolsListChanged: true }, _meta: meta() },
    })
    await turn()
    server.removeTool('log')
    await turn()
    expect(wire.told()).toEqual(['subscriptions/acknowledged', 'tools/list_changed'])
    for (const message of wire.heard) expect(message.jsonrpc).toBe('2.0')
  })

  it('hold no request, whatever a handler asks for [S-002]', async () => {
    const wire = connectWire(createFullServer())
    await wire.call('tools/call', { name: 'twice' }, { ...forms, roots: {} })
    await wire.call('prompts/get', { name: 'greet', arguments: { name: '?' } }, forms)
    expect(wire.heard.filter((each) => 'method' in each)).toEqual([])
    expect(wire.heard).toHaveLength(2)
  })

  it.each([1, 0, -7, 'a', '', '1'])('answer under the id %j, of the same type [S-003]', async (id) => {
    const wire = connectWire(createFullServer())
    expect(await wire.ask('tools/list', { _meta: meta() }, id)).toMatchObject({ id, result: {} })
    expect(await wire.ask('no/method', { _meta: meta() }, id)).toMatchObject({ id, error: { code: -32601 } })
  })

  it('say of what type each result is', async () => {
    const wire = connectWire(createFullServer())
    for (const [method, params] of EVERY_REQUEST) {
      expect([method, (await wire.call(method, params)).result?.resultType]).toEqual([method, 'complete'])
    }
    expect((await wire.call('tools/call', { name: 'fail' })).result).toMatchObject({ resultType: 'complete' })
    expect((await wire.call('tools/call', { name: 'ask' }, forms)).result?.resultType).toBe('input_required')
  })

  it('have errors of an integer code and one sentence [S-005]', async () => {
    const wire = connectWire(createFullServer())
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
      const { error } = await wire.call(method, params)
      expect(Number.isInteger(error?.code)).toBe(true)
      expect(error?.message).toMatch(/^[^\n]{5,200}$/)
    }
  })

  it.each(['notifications/initialized', 'notifications/unknown', 'tools/list', 'notifications/cancelled'])(
    'are none in reply to the notification %s [S-006]',
    async (method) => {
      const wire = connectWire(createFullServer())
      wire.send({ method, params: { _meta: meta() } })
      wire.send({ method })
      await turn()
      expect(wire.heard).toEqual([])
    },
  )

  it('use codes that the modern wire has', async () => {
    const wire = connectWire(createFullServer())
    const answers = [
      await wire.call('resources/read', { uri: 'note://gone' }),
      await wire.call('resources/read', { uri: 'x:unknown' }),
      await wire.call('tools/call', { name: 'ask' }),
      await wire.call('no/method'),
      await wire.call('tools/list', { cursor: 'x' }),
      await wire.ask('tools/list'),
      await wire.ask('tools/list', { _meta: meta({}, { [`${KEY}protocolVersion`]: '2031-01-01' }) }),
      await wire.call('tools/call', { name: 'echo', requestState: 'x' }),
    ]
    expect(answers.map(({ error }) => error?.code)).toEqual([
      -32602, -32602, -32021, -32601, -32602, -32600, -32022, -32602,
    ])
  })

  it('take nothing from what was said before on the connection [S-009]', async () => {
    const server = createServer({ name: 's', version: '1' }).tool('who', {}, (_, ctx) => [
      JSON.stringify([ctx.client.info?.name ?? null, Object.keys(ctx.client.capabilities)]),
    ])
    const wire = connectWire(server)
    const who = async (_meta: object) => (await wire.ask('tools/call', { name: 'who', _meta })).result?.content
    const named = meta(forms, { [`${KEY}clientInfo`]: { name: 'ann', version: '1' } })
    expect(await who(named)).toEqual([{ type: 'text', text: '["[\\"ann\\",[\\"elicitation\\"]]"]' }])
    expect(await who(meta())).toEqual([{ type: 'text', text: '["[null,[]]"]' }])
    expect((await wire.ask('tools/list', {})).error?.code).toBe(-32600)
  })

  it('may belong to tasks that know nothing of each other [S-010]', async () => {
    const wire = connectWire(createFullServer())
    const texts = Array.from({ length: 50 }, (_, index) => `${index}`)
    const answers = await Promise.all(
      texts.map((text) => wire.call('tools/call', { name: 'echo', arguments: { text } })),
    )
    expect(answers.map(({ result }) => result?.structuredContent)).toEqual(texts.map((text) => ({ text })))
  })
})

describe('what a request says of itself', () => {
  const without = (key: string) => {
    const { [`${KEY}${key}`]: _, ...rest } = meta()
    return rest
  }

  it.each(['tools/list', 'server/discover', 'no/method'])(
    'needs a version and capabilities, but no name: %s [S-012]',
    async (method) => {
      const wire = connectWire(createFullServer({ legacy: false }))
      for (const key of ['protocolVersion', 'clientCapabilities']) {
        const { error } = await wire.ask(method, { _meta: without(key) })
        expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(key) })
      }
      const { error } = await wire.ask(method, { _meta: meta() })
      expect(error?.code).not.toBe(-32602)
    },
  )

  it.each(['2031-01-01', '2025-11-25', '', 'x'])(
    'may name a version that is refused: %j [S-013]',
    async (requested) => {
      const wire = connectWire(createFullServer())
      const { error } = await wire.ask('tools/list', { _meta: meta({}, { [`${KEY}protocolVersion`]: requested }) })
      expect(error).toMatchObject({ code: -32022, data: { supported: [MODERN], requested } })
    },
  )

  it('decides what can be asked for, and what is missing is named [S-014]', async () => {
    const wire = connectWire(createFullServer())
    expect((await wire.call('tools/call', { name: 'ask' })).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    })
    const { error } = await wire.call('tools/call', { name: 'ask' }, { elicitation: { url: {} } })
    expect(error?.code).toBe(-32021)
    expect((await wire.call('tools/call', { name: 'ask' }, { elicitation: {} })).result).toBeDefined()
  })

  it('changes nothing by the name of the client [S-016]', async () => {
    const wire = connectWire(createFullServer())
    const ask = async (_meta: object) => (await wire.ask('tools/list', { _meta })).result
    const plain = await ask(meta())
    for (const name of ['admin', 'claude', '__proto__']) {
      expect(await ask(meta({}, { [`${KEY}clientInfo`]: { name, version: '1' } }))).toEqual(plain)
    }
  })

  it('may hold reserved names that nobody knows, and traces [S-018, S-019]', async () => {
    const trace = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'a=1',
      baggage: 'k=v',
    }
    const server = createServer({ name: 's', version: '1' }).tool('meta', {}, (_, ctx) => ctx.meta)
    const wire = connectWire(server)
    const _meta = meta({}, { ...trace, [`${KEY}later`]: [1], 'com.example/own': null })
    const { result } = await wire.ask('tools/call', { name: 'meta', _meta })
    const [block] = (result?.content ?? []) as { text: string }[]
    expect(JSON.parse(`${block?.text}`)).toEqual(_meta)
  })
})

describe('what a result says of its server', () => {
  it('is its name, in the metadata, under reserved keys that are specified and none else [S-015, S-017]', async () => {
    const wire = connectWire(createFullServer())
    for (const [method, params] of EVERY_REQUEST) {
      const found = (await wire.call(method, params)).result?._meta as object
      expect(found).toEqual({ [`${KEY}serverInfo`]: { name: 'full', version: '1.0.0' } })
      expect(Object.keys(found).every(isReservedMetaKey)).toBe(true)
    }
  })
})

describe('state between requests', () => {
  it('is what the client hands in, also to another server with the same secret [S-011]', async () => {
    const secrets = ['a secret of enough characters']
    const [one, other] = [createFullServer({ secrets }), createFullServer({ secrets })]
    const first = await connectWire(one).call('tools/call', { name: 'twice' }, { ...forms, roots: {} })
    expect(Object.keys(first.result?.inputRequests as object)).toEqual(['one'])
    const answers = { one: { action: 'accept', content: { name: 'x' } } }
    const retry = { name: 'twice', inputResponses: answers }
    const second = await connectWire(other).call('tools/call', retry, { ...forms, roots: {} })
    expect(Object.keys(second.result?.inputRequests as object)).toEqual(['two'])
    const { requestState } = second.result ?? {}
    const third = { name: 'twice', requestState, inputResponses: { two: { roots: [{ uri: 'file:///w' }] } } }
    const { result } = await connectWire(one).call('tools/call', third, { ...forms, roots: {} })
    expect(result?.content).toEqual([{ type: 'text', text: 'file:///w' }])
  })
})

describe('extensions', () => {
  it('are off, and their methods unknown [S-020, S-021]', async () => {
    const wire = connectWire(createFullServer())
    const { result } = await wire.call('server/discover')
    expect(result?.capabilities).not.toHaveProperty('extensions')
    for (const method of ['tasks/get', 'tasks/update', 'com.example/do']) {
      const { error } = await wire.call(method, { taskId: 'x' }, { extensions: { 'com.example/x': {} } })
      expect(error?.code).toBe(-32601)
    }
    const call = { name: 'echo', arguments: { text: 'x' } }
    expect((await wire.call('tools/call', call, { extensions: { 'com.example/x': {} } })).result?.resultType).toBe(
      'complete',
    )
  })
})

describe('both eras', () => {
  it('are served on one connection, each by how its messages open [S-023]', async () => {
    const wire = await connectLegacy(createFullServer())
    expect((await wire.ask('tools/list', {})).result).not.toHaveProperty('resultType')
    expect((await wire.call('tools/list')).result).toHaveProperty('resultType')
    expect((await wire.ask('ping', {})).result).toEqual({})
    expect((await wire.call('ping')).error?.code).toBe(-32601)
  })

  it('are not both served when one is off, and the refusal names what is [S-022]', async () => {
    const wire = connectWire(createFullServer({ legacy: false }))
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    expect((await wire.ask('initialize', params)).error?.message).toContain(MODERN)
  })

  it('have codes of their own for a resource that is gone', async () => {
    const server = createServer(
      { name: 's', version: '1' },
      {
        listResources: () => ({ resources: [] }),
        readResource: ({ uri }) => {
          throw new RpcError(-32602, 'gone', { data: { uri } })
        },
      },
    )
    expect((await connectWire(server).call('resources/read', { uri: 'a:b' })).error?.code).toBe(-32602)
    const older = await connectLegacy(server)
    expect((await older.ask('resources/read', { uri: 'a:b' })).error?.code).toBe(-32002)
  })
})
