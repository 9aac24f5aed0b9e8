/** What the server tells unasked: that lists have changed, and resources. */

import type { Change } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { caught, settled } from '@mcpx/testing'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import type { Rig } from '../rig.ts'
import { tap } from '../tap.ts'

const info = { name: 'changes', version: '1' }

function changing() {
  return createServer(info)
    .tool('t', {}, () => 'x')
    .prompt('p', {}, () => 'x')
    .resource('note://a', { subscribe: true }, 'a')
    .resource('note://b', { subscribe: true }, 'b')
}

/** Everything that was heard, and a wait for a number of it. */
export function heard({ soon }: Rig) {
  const changes: Change[] = []
  let wake = () => {}
  return {
    changes,
    onChange(change: Change) {
      changes.push(change)
      wake()
    },
    async count(count: number) {
      while (changes.length < count) {
        const more = new Promise<void>((resolve) => {
          wake = resolve
        })
        await soon(`change ${changes.length + 1} of ${count}`, more)
      }
      return changes
    },
  }
}

const changeMethod = /^notifications\/(?:.+\/list_changed|resources\/updated)$/

const everyList = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }

export const changes: Behaviours = {
  async 'updates of a resource come from subscribing until unsubscribing'(rig) {
    const { connect } = rig
    const server = changing()
    const { onChange, changes, count } = heard(rig)
    const client = await connect(server, { onChange })
    await client.subscribe('note://a')
    server.resourceUpdated('note://b')
    server.resourceUpdated('note://a')
    expect(await count(1)).toEqual([{ kind: 'resource', uri: 'note://a' }])
    await client.subscribe('note://b')
    server.resourceUpdated('note://b')
    server.resourceUpdated('note://a')
    await count(3)
    expect(
      changes
        .slice(1)
        .map((change) => 'uri' in change && change.uri)
        .sort(),
    ).toEqual(['note://a', 'note://b'])
    await client.unsubscribe('note://a')
    server.resourceUpdated('note://a')
    server.resourceUpdated('note://b')
    await count(4)
    await settled()
    expect(changes.slice(3)).toEqual([{ kind: 'resource', uri: 'note://b' }])
  },

  async 'a server without subscriptions refuses them'({ connect }) {
    const client = await connect(createServer(info).resource('note://a', {}, 'a'))
    await expect(client.subscribe('note://a')).rejects.toMatchObject({ name: 'ConnectionError', reason: 'unsupported' })
  },

  async 'subscribing to a resource that is not there has the code of its era'({ connect }) {
    const client = await connect(changing())
    const refusal = { code: -32002, data: { uri: 'note://nope' } }
    expect(await caught(() => client.subscribe('note://nope')), 'the refusal').toMatchObject(refusal)
  },

  async 'updates of what a caller may not see are not told to them'(rig) {
    const { connect } = rig
    const server = changing().resource('note://secret', { subscribe: true, visible: (auth) => auth !== undefined }, 's')
    const { onChange, changes, count } = heard(rig)
    const client = await connect(server, { onChange })
    const refused = await caught(() => client.subscribe('note://secret'))
    // A stream of changes has no error for one of several URIs: what may not be followed is left out.
    if (rig.era === 'legacy') expect(refused).toMatchObject({ code: -32002, data: { uri: 'note://secret' } })
    else expect(refused).toMatchObject({ name: 'ConnectionError', reason: 'unsupported' })
    await client.subscribe('note://a')
    server.resourceUpdated('note://secret')
    server.resourceUpdated('note://a')
    await count(1)
    await settled()
    expect(changes).toEqual([{ kind: 'resource', uri: 'note://a' }])
  },

  async 'the handler is told who subscribes to what, and when they leave'({ connect }) {
    const told: string[] = []
    const server = createServer(info, {
      listResources: () => ({ resources: [] }),
      readResource: () => ({ contents: [] }),
      subscribe: ({ uri }) => void told.push(`+ ${uri}`),
      unsubscribe: ({ uri }) => void told.push(`- ${uri}`),
      changes: () => () => {},
    })
    const client = await connect(server)
    await client.subscribe('note://a')
    expect(told).toEqual(['+ note://a'])
    await client.unsubscribe('note://a')
    await settled()
    expect(told).toEqual(['+ note://a', '- note://a'])
  },

  async 'lists that change are told of to who listens'({ connect, soon }) {
    const server = changing()
    const client = await connect(server)
    const listening = client.listen(everyList)
    expect(await soon('that the server listens', listening.ready)).toEqual(everyList)
    await settled()
    server.tool('more', {}, () => 'x').prompt('more', {}, () => 'x')
    server.removeResource('note://b')
    const next = async () => (await soon('a change', listening.next())).value as Change
    expect([(await next()).kind, (await next()).kind, (await next()).kind].sort()).toEqual([
      'prompts',
      'resources',
      'tools',
    ])
    listening.close()
    expect(await listening.next()).toMatchObject({ done: true })
  },

  async 'only what was asked for is told'({ connect, soon }) {
    const server = changing()
    const client = await connect(server)
    const listening = client.listen({ promptsListChanged: true, resourceSubscriptions: ['note://a'] })
    expect(await listening.ready).toEqual({ promptsListChanged: true, resourceSubscriptions: ['note://a'] })
    server.tool('more', {}, () => 'x')
    server.resourceUpdated('note://b')
    server.resourceUpdated('note://a')
    const next = async () => (await soon('a change', listening.next())).value
    expect(await next()).toEqual({ kind: 'resource', uri: 'note://a' })
    server.prompt('more', {}, () => 'x')
    expect(await next()).toEqual({ kind: 'prompts' })
    listening.close()
  },

  async 'what is not followed, or not any more, is not even sent'(rig) {
    const server = changing()
    const { connector } = rig.reach(server)
    const { tapped, sent } = tap(connector)
    const { onChange, count } = heard(rig)
    const client = await rig.connectOver(tapped, { onChange })
    await client.subscribe('note://a')
    await client.subscribe('note://b')
    await client.unsubscribe('note://a')
    // Where streams have no order, the last one is kept for a moment.
    await new Promise((resolve) => setTimeout(resolve, 600))
    server.resourceUpdated('note://a')
    server.resourceUpdated('note://b')
    await count(1)
    await settled()
    const changes = sent.filter(({ method }) => changeMethod.test(method))
    expect(changes.map(({ method, params }) => [method, params?.uri])).toEqual([
      ['notifications/resources/updated', 'note://b'],
    ])
  },

  async 'a client that hears of changes reads lists anew'(rig) {
    const { connect } = rig
    const server = createServer(info, { cache: { tools: { ttlMs: 60_000 } } }).tool('a', {}, () => 'x')
    const { onChange, count } = heard(rig)
    const client = await connect(server, { onChange })
    expect(await client.listTools().all()).toHaveLength(1)
    await settled()
    server.tool('b', {}, () => 'x')
    expect(await count(1)).toEqual([{ kind: 'tools' }])
    expect(await client.listTools().all()).toHaveLength(2)
  },

  async 'many changes at once are told of without being lost'({ connect, soon }) {
    const server = changing()
    for (let n = 0; n < 200; n += 1) server.resource(`many://${n}`, { subscribe: true }, 'x')
    const uris = Array.from({ length: 200 }, (_, n) => `many://${n}`)
    const client = await connect(server)
    const listening = client.listen({ resourceSubscriptions: uris })
    await listening.ready
    for (const uri of uris) for (let times = 0; times < 3; times += 1) server.resourceUpdated(uri)
    const seen = new Set<string>()
    while (seen.size < 200) {
      const { value } = await soon(`one of ${200 - seen.size} changes`, listening.next())
      seen.add((value as { uri: string }).uri)
    }
    listening.close()
    expect([...seen].sort()).toEqual([...uris].sort())
  },

  async 'two clients hear each of what they asked for'(rig) {
    const { connect } = rig
    const server = changing()
    const [one, two] = [heard(rig), heard(rig)]
    const first = await connect(server, { onChange: one.onChange })
    const second = await connect(server, { onChange: two.onChange })
    await first.subscribe('note://a')
    await second.subscribe('note://b')
    server.resourceUpdated('note://a')
    server.resourceUpdated('note://b')
    expect(await one.count(1)).toEqual([{ kind: 'resource', uri: 'note://a' }])
    expect(await two.count(1)).toEqual([{ kind: 'resource', uri: 'note://b' }])
    await settled()
    expect([one.changes.length, two.changes.length]).toEqual([1, 1])
  },

  async 'who has gone is not listened for any more'({ connect }) {
    let listeners = 0
    const server = createServer(info, {
      listTools: () => ({ tools: [] }),
      callTool: () => ({ content: [] }),
      changes() {
        listeners += 1
        return () => {
          listeners -= 1
        }
      },
    })
    const client = await connect(server)
    const listening = client.listen({ toolsListChanged: true })
    await listening.ready
    await settled()
    expect(listeners, 'listeners while the client listens').toBe(1)
    await client.close()
    await settled()
    expect(listeners, 'listeners after it has gone').toBe(0)
  },
}
