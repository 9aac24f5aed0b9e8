/** Change notifications of lists and resources. */

import type { Change } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { catchError, waitForTasks } from '@mcpx/testing'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { type Rig, recordNotifications } from '../rig.ts'

const info = { name: 'changes', version: '1' }

function changing() {
  return createServer(info)
    .tool('t', {}, () => 'x')
    .prompt('p', {}, () => 'x')
    .resource('note://a', { subscribe: true }, 'a')
    .resource('note://b', { subscribe: true }, 'b')
}

/** Collects changes; `count` waits until the given number has arrived. */
export function collectChanges({ waitFor, transport, era }: Rig) {
  const changes: Change[] = []
  let notify = () => {}
  return {
    changes,
    onChange(change: Change) {
      changes.push(change)
      notify()
    },
    async count(count: number) {
      while (changes.length < count) {
        const more = new Promise<void>((resolve) => {
          notify = resolve
        })
        await waitFor(`change ${changes.length + 1} of ${count}`, more)
      }
      return changes
    },
    /**
     * Forgets the changes that were counted because a stream over HTTP was replaced. On a pipe there are no such
     * changes.
     */
    async forget() {
      await waitForTasks()
      if (!transport.startsWith('HTTP') || era === 'legacy') expect(changes).toEqual([])
      changes.length = 0
    },
  }
}

const changeMethod = /^notifications\/(?:.+\/list_changed|resources\/updated)$/

const everyList = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }

export const changes: Behaviours = {
  async 'a client receives updates of a resource until it unsubscribes'(rig) {
    const { connect } = rig
    const server = changing()
    const { onChange, changes, count, forget } = collectChanges(rig)
    const client = await connect(server, { onChange })
    await client.subscribe('note://a')
    await forget()
    server.resourceUpdated('note://b')
    server.resourceUpdated('note://a')
    expect(await count(1)).toEqual([{ kind: 'resource', uri: 'note://a' }])
    changes.length = 0
    await client.subscribe('note://b')
    await forget()
    server.resourceUpdated('note://b')
    server.resourceUpdated('note://a')
    await count(2)
    expect(changes.map((change) => 'uri' in change && change.uri).sort()).toEqual(['note://a', 'note://b'])
    changes.length = 0
    await client.unsubscribe('note://a')
    await forget()
    server.resourceUpdated('note://a')
    server.resourceUpdated('note://b')
    await count(1)
    await waitForTasks()
    expect(changes).toEqual([{ kind: 'resource', uri: 'note://b' }])
  },

  async 'a server without subscriptions rejects them'({ connect }) {
    const client = await connect(createServer(info).resource('note://a', {}, 'a'))
    await expect(client.subscribe('note://a')).rejects.toMatchObject({ name: 'ConnectionError', reason: 'unsupported' })
  },

  async 'subscribing to a missing resource fails with the code of the era'({ connect }) {
    const client = await connect(changing())
    const expectedError = { code: -32002, data: { uri: 'note://nope' } }
    expect(await catchError(() => client.subscribe('note://nope')), 'the error').toMatchObject(expectedError)
  },

  async 'a caller receives no updates of invisible resources'(rig) {
    const { connect } = rig
    const server = changing().resource('note://secret', { subscribe: true, visible: (auth) => auth !== undefined }, 's')
    const { onChange, changes, count, forget } = collectChanges(rig)
    const client = await connect(server, { onChange })
    const error = await catchError(() => client.subscribe('note://secret'))
    // A modern subscription has no error for a single URI: the server omits the URI.
    if (rig.era === 'legacy') expect(error).toMatchObject({ code: -32002, data: { uri: 'note://secret' } })
    else expect(error).toMatchObject({ name: 'ConnectionError', reason: 'unsupported' })
    await client.subscribe('note://a')
    await forget()
    server.resourceUpdated('note://secret')
    server.resourceUpdated('note://a')
    await count(1)
    await waitForTasks()
    expect(changes).toEqual([{ kind: 'resource', uri: 'note://a' }])
  },

  async 'the handler is called for each subscription and its end'({ connect }) {
    const calls: string[] = []
    const server = createServer(info, {
      listResources: () => ({ resources: [] }),
      readResource: () => ({ contents: [] }),
      subscribe: ({ uri }) => void calls.push(`+ ${uri}`),
      unsubscribe: ({ uri }) => void calls.push(`- ${uri}`),
      changes: () => () => {},
    })
    const client = await connect(server)
    await client.subscribe('note://a')
    expect(calls).toEqual(['+ note://a'])
    await client.unsubscribe('note://a')
    await waitForTasks()
    expect(calls).toEqual(['+ note://a', '- note://a'])
  },

  async 'listening clients receive list changes'({ connect, waitFor }) {
    const server = changing()
    const client = await connect(server)
    const listening = client.listen(everyList)
    expect(await waitFor('the acknowledgement of the subscription', listening.ready)).toEqual(everyList)
    await waitForTasks()
    server.tool('more', {}, () => 'x').prompt('more', {}, () => 'x')
    server.removeResource('note://b')
    const next = async () => (await waitFor('a change', listening.next())).value as Change
    expect([(await next()).kind, (await next()).kind, (await next()).kind].sort()).toEqual([
      'prompts',
      'resources',
      'tools',
    ])
    listening.close()
    expect(await listening.next()).toMatchObject({ done: true })
  },

  async 'a client receives only the changes that it listens for'({ connect, waitFor }) {
    const server = changing()
    const client = await connect(server)
    const listening = client.listen({ promptsListChanged: true, resourceSubscriptions: ['note://a'] })
    expect(await listening.ready).toEqual({ promptsListChanged: true, resourceSubscriptions: ['note://a'] })
    server.tool('more', {}, () => 'x')
    server.resourceUpdated('note://b')
    server.resourceUpdated('note://a')
    const next = async () => (await waitFor('a change', listening.next())).value
    expect(await next()).toEqual({ kind: 'resource', uri: 'note://a' })
    server.prompt('more', {}, () => 'x')
    expect(await next()).toEqual({ kind: 'prompts' })
    listening.close()
  },

  async 'the server does not send updates of resources without subscription'(rig) {
    const server = changing()
    const { connector } = rig.open(server)
    const { recording, notifications } = recordNotifications(connector)
    const { onChange, count, forget } = collectChanges(rig)
    const client = await rig.connectOver(recording, { onChange })
    await client.subscribe('note://a')
    await client.subscribe('note://b')
    await client.unsubscribe('note://a')
    // The old stream is closed, and a legacy subscription ended, after the call.
    await new Promise((resolve) => setTimeout(resolve, 600))
    await forget()
    server.resourceUpdated('note://a')
    server.resourceUpdated('note://b')
    await count(1)
    await waitForTasks()
    const changes = notifications.filter(({ method }) => changeMethod.test(method))
    expect(changes.map(({ method, params }) => [method, params?.uri])).toEqual([
      ['notifications/resources/updated', 'note://b'],
    ])
  },

  async 'a client reads a list again after its change'(rig) {
    const { connect } = rig
    const server = createServer(info, { cache: { tools: { ttlMs: 60_000 } } }).tool('a', {}, () => 'x')
    const { onChange, count } = collectChanges(rig)
    const client = await connect(server, { onChange })
    expect(await client.listTools().all()).toHaveLength(1)
    await waitForTasks()
    server.tool('b', {}, () => 'x')
    expect(await count(1)).toEqual([{ kind: 'tools' }])
    expect(await client.listTools().all()).toHaveLength(2)
  },

  async 'no change is lost when many arrive at once'({ connect, waitFor }) {
    const server = changing()
    for (let n = 0; n < 200; n += 1) server.resource(`many://${n}`, { subscribe: true }, 'x')
    const uris = Array.from({ length: 200 }, (_, n) => `many://${n}`)
    const client = await connect(server)
    const listening = client.listen({ resourceSubscriptions: uris })
    await listening.ready
    for (const uri of uris) for (let times = 0; times < 3; times += 1) server.resourceUpdated(uri)
    const seen = new Set<string>()
    while (seen.size < 200) {
      const { value } = await waitFor(`one of ${200 - seen.size} changes`, listening.next())
      seen.add((value as { uri: string }).uri)
    }
    listening.close()
    expect([...seen].sort()).toEqual([...uris].sort())
  },

  async 'each of two clients receives the changes of its own subscriptions'(rig) {
    const { connect } = rig
    const server = changing()
    const [one, two] = [collectChanges(rig), collectChanges(rig)]
    const first = await connect(server, { onChange: one.onChange })
    const second = await connect(server, { onChange: two.onChange })
    await first.subscribe('note://a')
    await second.subscribe('note://b')
    for (const each of [one, two]) await each.forget()
    server.resourceUpdated('note://a')
    server.resourceUpdated('note://b')
    expect(await one.count(1)).toEqual([{ kind: 'resource', uri: 'note://a' }])
    expect(await two.count(1)).toEqual([{ kind: 'resource', uri: 'note://b' }])
    await waitForTasks()
    expect([one.changes.length, two.changes.length]).toEqual([1, 1])
  },

  async 'the server removes the change listener of a closed client'({ connect }) {
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
    await waitForTasks()
    expect(listeners, 'listeners while the client listens').toBe(1)
    await client.close()
    await waitForTasks()
    expect(listeners, 'listeners after the client has closed').toBe(0)
  },
}
