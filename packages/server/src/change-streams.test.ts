import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createDuplex, type Exchange, type Handler, type NotificationMessage, type Responder } from '@mcpx/protocol'
import { createChannelPair, memoryStore } from '@mcpx/protocol/memory'
import { afterEach, describe, expect, it } from 'vitest'
import { createServer, type ServerOptions } from './index.ts'

const turn = (ms = 1) => new Promise((resolve) => setTimeout(resolve, ms))
const modern = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const subscription = 'io.modelcontextprotocol/subscriptionId'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

function connect(server: Responder) {
  const heard: NotificationMessage[] = []
  const [near, far] = createChannelPair()
  const serving = createDuplex(far, { responder: server })
  const duplex = createDuplex(near, {
    responder: { respond: (message) => void heard.push(message as NotificationMessage) },
  })
  closing.push(() => duplex.close())
  return { duplex, heard, serving }
}

async function connectLegacy(server: Responder) {
  const peer = connect(server)
  await peer.duplex.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'c', version: '1' },
  })
  await peer.duplex.notify('notifications/initialized')
  await turn()
  return peer
}

/** Opens a stream and collects what comes on it. */
function listen(server: Responder, notifications: object) {
  const { duplex, serving } = connect(server)
  const heard: NotificationMessage[] = []
  const controller = new AbortController()
  const ended = duplex
    .request(
      'subscriptions/listen',
      { notifications, _meta: modern },
      {
        timeout: Number.POSITIVE_INFINITY,
        signal: controller.signal,
        onNotification: (message) => void heard.push(message),
      },
    )
    .catch((error) => error)
  return { heard, ended, controller, duplex, serving }
}

const methods = (heard: NotificationMessage[]) => heard.map(({ method }) => method.replace('notifications/', ''))

function growing(options: ServerOptions = {}) {
  const server = createServer({ name: 's', version: '1' }, options)
  server.tool('first', {}, () => 'x')
  server.resource('note://{id}', { subscribe: true }, ({ id }) => `note ${id}`)
  server.prompt('p', {}, () => 'x')
  return server
}

describe('a legacy session', () => {
  it('receives list changes and updates of subscribed resources once it is ready', async () => {
    const server = growing()
    const { duplex, heard } = await connectLegacy(server)
    server.tool('second', {}, () => 'x')
    await turn()
    expect(methods(heard)).toEqual(['tools/list_changed'])
    server.resourceUpdated('note://1')
    await turn()
    expect(heard).toHaveLength(1)
    expect(await duplex.request('resources/subscribe', { uri: 'note://1' })).toEqual({})
    server.resourceUpdated('note://1')
    server.resourceUpdated('note://2')
    await turn()
    expect(heard.slice(1)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'note://1' } },
    ])
    expect(await duplex.request('resources/unsubscribe', { uri: 'note://1' })).toEqual({})
    server.resourceUpdated('note://1')
    server.removePrompt('p')
    await turn()
    expect(methods(heard.slice(2))).toEqual(['prompts/list_changed'])
  })

  it('receives nothing before it is ready', async () => {
    const server = growing()
    const { duplex, heard } = connect(server)
    await duplex.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    })
    server.tool('second', {}, () => 'x')
    await turn()
    expect(heard).toEqual([])
  })

  it('has a limited number of subscriptions', async () => {
    const { duplex } = await connectLegacy(growing({ limits: { subscriptions: 2 } }))
    for (const uri of ['note://1', 'note://2', 'note://1'])
      expect(await duplex.request('resources/subscribe', { uri })).toEqual({})
    await expect(duplex.request('resources/subscribe', { uri: 'note://3' })).rejects.toMatchObject({
      message: expect.stringContaining('at most 2'),
    })
  })

  it('removes its listener when it ends', async () => {
    let listeners = 0
    const server = createServer(
      { name: 's', version: '1' },
      {
        listTools: () => ({ tools: [] }),
        callTool: () => ({ content: [] }),
        changes() {
          listeners += 1
          return () => void listeners--
        },
      },
    )
    const { duplex } = await connectLegacy(server)
    expect(listeners).toBe(1)
    await duplex.close()
    await turn()
    expect(listeners).toBe(0)
  })
})

describe('a modern subscription', () => {
  it('is acknowledged first, with the accepted filter, and tags each message with its id [S-070, S-071, S-072, S-077]', async () => {
    const server = growing()
    const wanted = {
      toolsListChanged: true,
      promptsListChanged: false,
      resourceSubscriptions: ['note://1'],
      unknown: true,
    }
    const { heard } = listen(server, wanted)
    await turn()
    server.tool('second', {}, () => 'x')
    await turn()
    server.removePrompt('p')
    server.resourceUpdated('note://1')
    server.resourceUpdated('note://2')
    await turn()
    expect(methods(heard)).toEqual(['subscriptions/acknowledged', 'tools/list_changed', 'resources/updated'])
    expect(heard[0]?.params?.notifications).toEqual({ toolsListChanged: true, resourceSubscriptions: ['note://1'] })
    for (const { params } of heard) expect(params?._meta).toEqual({ [subscription]: 1 })
  })

  it('misses no change during its setup, and receives it after the acknowledgement', async () => {
    const server = createServer({ name: 's', version: '1' })
    server.tool('first', {}, () => 'x')
    server.resource('note://{id}', { subscribe: true }, ({ id }) => `note ${id}`)
    server.use(async (request, _ctx, next) => {
      const result = await next()
      if (request.method === 'resources/subscribe') {
        server.resourceUpdated(String(request.params.uri))
        server.removeTool('first')
        await turn()
      }
      return result
    })
    const { heard } = listen(server, { toolsListChanged: true, resourceSubscriptions: ['note://1'] })
    await turn(10)
    expect(methods(heard)).toEqual(['subscriptions/acknowledged', 'resources/updated', 'tools/list_changed'])
  })

  it('receives repeated changes once while its client does not read', async () => {
    const server = growing()
    const told: string[] = []
    let read = () => {}
    const exchange = {
      signal: new AbortController().signal,
      auth: undefined,
      session: undefined,
      requestInfo: undefined,
      notify(method: string) {
        told.push(method.replace('notifications/', ''))
        return new Promise<void>((resolve) => (read = resolve))
      },
    }
    const params = { notifications: { toolsListChanged: true }, _meta: modern }
    void server.respond({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }, exchange)
    for (let n = 0; n < 5; n++) {
      server.tool(`more-${n}`, {}, () => 'x')
      await turn()
    }
    expect(told).toEqual(['subscriptions/acknowledged'])
    for (let n = 0; n < 3; n++) {
      read()
      await turn()
    }
    expect(told).toEqual(['subscriptions/acknowledged', 'tools/list_changed'])
  })

  it('receives only changes that the server supports', async () => {
    const server = createServer(
      { name: 's', version: '1' },
      { listTools: () => ({ tools: [] }), callTool: () => ({ content: [] }) },
    )
    const { heard } = listen(server, { toolsListChanged: true, resourceSubscriptions: ['x:1'] })
    await turn()
    expect(heard.map(({ params }) => params?.notifications)).toEqual([{}])
  })

  it('may be one of several, which all receive changes [S-073]', async () => {
    const server = growing()
    const streams = [1, 2, 3].map(() => listen(server, { toolsListChanged: true }))
    await turn()
    server.removeTool('first')
    await turn()
    for (const { heard } of streams)
      expect(methods(heard)).toEqual(['subscriptions/acknowledged', 'tools/list_changed'])
  })

  it('ends without a result when the client cancels it, and removes its listener', async () => {
    const server = growing({ limits: { listens: 1 } })
    const first = listen(server, {})
    await turn()
    const refused = listen(server, {})
    expect(await refused.ended).toMatchObject({ code: -32603, message: expect.stringContaining('at most 1') })
    first.controller.abort()
    expect(await first.ended).toMatchObject({ reason: 'cancelled' })
    await turn()
    expect(first.serving.load.running).toBe(0)
    const second = listen(server, {})
    await turn()
    expect(methods(second.heard)).toEqual(['subscriptions/acknowledged'])
  })

  it('is refused to a caller that has a quarter of all streams, and not to others', async () => {
    const server = growing({ limits: { listens: 80 } })
    const open = (caller: string, id: number) => {
      const { signal } = new AbortController()
      const facts = { auth: undefined, session: undefined, requestInfo: undefined }
      const exchange: Exchange = { ...facts, caller, signal, notify: () => {}, onClose: () => {} }
      const params = { notifications: {}, _meta: modern }
      return server.respond({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params }, exchange)
    }
    for (let id = 0; id < 20; id++) void open('mallory', id)
    expect(await open('mallory', 20)).toMatchObject({
      error: { message: 'Too many subscriptions: at most 20 of one caller (limits.perCaller of limits.listens)' },
    })
    const other = open('alice', 21)
    await turn()
    server.close()
    expect(await other).toHaveProperty('result')
  })

  it('ends with a result when the server closes [S-074]', async () => {
    const server = growing()
    const { ended } = listen(server, { toolsListChanged: true })
    await turn()
    server.close()
    expect(await ended).toMatchObject({ resultType: 'complete', _meta: { [subscription]: 1 } })
  })

  it('needs a filter that is not too long [S-079]', async () => {
    const server = growing({ limits: { subscriptions: 2 } })
    expect(await listen(server, undefined as never).ended).toMatchObject({
      code: -32602,
      message: expect.stringContaining('params.notifications'),
    })
    expect(await listen(server, { toolsListChanged: 'yes' }).ended).toMatchObject({ code: -32602 })
    expect(await listen(server, { resourceSubscriptions: ['a:1', 'a:2', 'a:3'] }).ended).toMatchObject({
      code: -32602,
      message: expect.stringContaining('at most 2'),
    })
  })
})

/** A listener of each era. */
const HEARERS = {
  legacy: async (server: Responder) => (await connectLegacy(server)).heard,
  modern: async (server: Responder) => {
    const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }
    const { heard } = listen(server, all)
    await turn()
    heard.splice(0)
    return heard
  },
}

describe.each(['legacy', 'modern'] as const)('a listening client in the %s era', (era) => {
  const part = () => createServer({ name: 'p', version: '1' }).tool('a', {}, () => 'x')
  const raw = (): ServerOptions & Handler => ({
    listTools: () => ({ tools: [] }),
    callTool: () => ({ content: [] }),
    changes: () => () => {},
  })

  it('receives the lists of a server that is mounted later once, and then its changes', async () => {
    const server = growing()
    const heard = await HEARERS[era](server)
    const mounted = part().resource('a:1', {}, () => 'x')
    server
      .mount('p', mounted)
      .mount('q', part())
      .tool('own', {}, () => 'x')
    await turn()
    expect(methods(heard.splice(0)).sort()).toEqual(['resources/list_changed', 'tools/list_changed'])
    mounted.removeTool('a')
    await turn()
    expect(methods(heard.splice(0))).toEqual(['tools/list_changed'])
    server.removePrompt('p')
    await turn()
    expect(methods(heard)).toEqual(['prompts/list_changed'])
  })

  it('receives changes of the first item that is registered beside a handler, and of later ones', async () => {
    const server = createServer({ name: 's', version: '1' }, raw())
    const heard = await HEARERS[era](server)
    for (const name of ['a', 'b']) {
      server.tool(name, {}, () => 'x')
      await turn()
      expect(methods(heard.splice(0))).toEqual(['tools/list_changed'])
    }
  })

  it('receives changes of nested mounts, also if they are empty at first', async () => {
    const middle = createServer({ name: 'm', version: '1' })
    const server = growing()
    const heard = await HEARERS[era](server)
    server.mount('m', middle)
    await turn()
    expect(heard).toEqual([])
    const inner = part()
    middle.mount('i', inner)
    await turn()
    expect(methods(heard.splice(0))).toEqual(['tools/list_changed'])
    inner.tool('b', {}, () => 'x')
    await turn()
    expect(methods(heard)).toEqual(['tools/list_changed'])
  })

  it('continues to receive changes if a mounted part does not support them', async () => {
    const errors: unknown[] = []
    const server = growing({ onError: (error) => void errors.push(error) })
    const heard = await HEARERS[era](server)
    const deaf = new Error('deaf')
    server.mount('d', {
      ...raw(),
      changes() {
        throw deaf
      },
    })
    await turn()
    expect(methods(heard.splice(0))).toEqual(['tools/list_changed'])
    server.removePrompt('p')
    await turn()
    expect(methods(heard)).toEqual(['prompts/list_changed'])
    expect(errors).toEqual([deaf])
  })
})

describe('a modern subscription with a slow handler', () => {
  /** Hangs at the second URI until it is let go on. */
  function hanging(options: ServerOptions = {}) {
    const watched: string[] = []
    let goOn = () => {}
    const server = createServer(
      { name: 's', version: '1' },
      {
        ...options,
        listResources: () => ({ resources: [] }),
        readResource: () => ({ contents: [] }),
        async subscribe({ uri }) {
          if (uri === 'a:2') await new Promise<void>((resolve) => (goOn = resolve))
          watched.push(uri)
        },
        unsubscribe: ({ uri }) => void watched.splice(watched.indexOf(uri), 1),
        changes: () => () => {},
      },
    )
    const uris = { resourceSubscriptions: ['a:1', 'a:2', 'a:3'] }
    return { server, watched, uris, goOn: () => goOn() }
  }

  it('frees its slot when its client disconnects, and leaves no subscription', async () => {
    const { server, watched, uris, goOn } = hanging({ limits: { listens: 1 } })
    const { controller, ended, serving } = listen(server, uris)
    await turn()
    expect(watched).toEqual(['a:1'])
    controller.abort()
    await ended
    await turn()
    expect([serving.load.running, watched]).toEqual([0, []])
    const second = listen(server, {})
    await turn()
    expect(methods(second.heard)).toEqual(['subscriptions/acknowledged'])
    goOn()
    await turn()
    expect(watched).toEqual([])
  })

  it('ends with a result at once when the server closes', async () => {
    const { server, watched, uris, goOn } = hanging()
    const { ended } = listen(server, uris)
    await turn()
    server.close()
    expect(await ended).toMatchObject({ resultType: 'complete' })
    goOn()
    await turn()
    expect(watched).toEqual([])
  })

  it('does not start for a client that has disconnected before', async () => {
    const { server, watched, uris } = hanging()
    const exchange = {
      signal: AbortSignal.abort(),
      auth: undefined,
      session: undefined,
      requestInfo: undefined,
      notify: () => undefined,
    }
    const params = { notifications: uris, _meta: modern }
    const message = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params } as const
    expect(await server.respond(message, exchange)).toBeUndefined()
    expect(watched).toEqual([])
  })
})

describe('changes of a process that has no items of its own', () => {
  it('are published to the other processes', async () => {
    const store = memoryStore()
    const server = createServer(
      { name: 's', version: '1' },
      { store, secrets: ['known to all processes of this test'] },
    )
    const job = createServer({ name: 's', version: '1' }, { store, secrets: ['known to all processes of this test'] })
    closing.push(
      () => server.close(),
      () => job.close(),
    )
    server.resource('note://1', { subscribe: true }, '')
    const { duplex, heard } = connect(server)
    const params = { _meta: modern, notifications: { resourceSubscriptions: ['note://1'] } }
    duplex.request('subscriptions/listen', params).catch(() => {})
    while (heard.length === 0) await turn()
    job.resourceUpdated('note://1')
    while (heard.length === 1) await turn()
    expect(heard[1]).toMatchObject({ method: 'notifications/resources/updated', params: { uri: 'note://1' } })
  })
})

describe('changes that a bus does not accept', () => {
  it('wait in little memory, however many there are', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    let isBroken = true
    const published: string[] = []
    const publish = (topic: string, message: string) => {
      if (isBroken) throw new Error('no bus')
      if (topic === 'mcpx/changes') published.push(message)
    }
    const store = memoryStore()
    const server = createServer({ name: 's', version: '1' }, { store: { ...store, bus: { ...store.bus, publish } } })
    server.resource('note://first', {}, '')
    closing.push(() => server.close())
    server.resourceUpdated('note://first')
    await turn()
    collect()
    const before = process.memoryUsage().heapUsed
    for (let n = 0; n < 20_000; n++) {
      server.resourceUpdated(`note://${n}/${'x'.repeat(5_000)}`)
      if (n % 1_000 === 0) await turn()
    }
    await turn()
    collect()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(40_000_000)
    isBroken = false
    while (published.length < 2) await turn(20)
    const [first, second] = published.map((text) => JSON.parse(text))
    expect(first.changes).toEqual([{ kind: 'resource', uri: 'note://first' }])
    // Everything may have changed.
    expect(second).toEqual({ from: first.from, number: 2 })
  })

  it('are sent once to clients if the bus publishes them although it reports a failure', async () => {
    const store = memoryStore()
    let failures = 1
    const publish = async (topic: string, message: string) => {
      await store.bus.publish(topic, message)
      if (topic === 'mcpx/changes' && failures-- > 0) throw new Error('no reply')
    }
    const options = { secrets: ['known to all processes of this test'] }
    const failing = createServer(
      { name: 's', version: '1' },
      { ...options, store: { ...store, bus: { ...store.bus, publish } } },
    )
    const server = createServer({ name: 's', version: '1' }, { ...options, store })
    closing.push(
      () => failing.close(),
      () => server.close(),
    )
    const uris = ['note://1', 'note://2']
    for (const uri of uris) server.resource(uri, { subscribe: true }, '')
    const { heard } = listen(server, { resourceSubscriptions: uris })
    while (heard.length === 0) await turn()
    failing.resourceUpdated('note://1')
    failing.resourceUpdated('note://1')
    await turn(100)
    failing.resourceUpdated('note://2')
    while (heard.at(-1)?.params?.uri !== 'note://2') await turn()
    expect(heard.slice(1).map(({ params }) => params?.uri)).toEqual(uris)
    expect(failures).toBeLessThan(0)
  })
})
