/** A connection that ends by itself is made again by the next call; what listens goes on. */

import { connect as connectTo } from '@mcpx/client'
import type { Connector, Responder } from '@mcpx/protocol'
import { createServer, type Server } from '@mcpx/server'
import { caught, settled } from '@mcpx/testkit'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import type { Rig } from '../rig.ts'
import { textOf } from './calling-tools.ts'
import { heard } from './changes.ts'

/** A way to a server that can be cut, and how often it was taken. */
function cuttable({ reach }: Rig, server: Responder) {
  const { connector, cut = notToBeCut } = reach(server)
  const counts = { made: 0 }
  const counting: Connector = {
    ...connector,
    connect(options) {
      counts.made += 1
      return connector.connect(options)
    },
  }
  return {
    connector: counting,
    counts,
    async cut() {
      await cut()
      await settled()
    },
  }
}

function notToBeCut(): never {
  throw new Error('There is no connection to cut')
}

const numbers = () => createServer({ name: 'cut', version: '1' }).tool('t', {}, () => 'x') as unknown as Server

export const reconnecting: Behaviours = {
  async 'the next call after the connection was cut is made over a new one'(rig) {
    const { connector, counts, cut } = cuttable(rig, numbers())
    await using client = await connectTo(connector, { era: rig.revision })
    expect(textOf(await client.callTool('t'))).toBe('x')
    await cut()
    expect(textOf(await client.callTool('t'))).toBe('x')
    expect(client.revision).toBe(rig.revision)
    expect(counts.made).toBe(2)
  },

  async 'calls that waited when the connection was cut are lost, not repeated'(rig) {
    let calls = 0
    const server = numbers()
    server.tool('wait', {}, () => {
      calls += 1
      return new Promise(() => {})
    })
    const { connector, cut } = cuttable(rig, server)
    await using client = await connectTo(connector, { era: rig.revision })
    const waiting = caught(() => client.callTool('wait'))
    await client.callTool('t')
    await cut()
    expect(await waiting).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
    await client.callTool('t')
    expect(calls).toBe(1)
  },

  async 'who listens goes on over the new connection, and what is watched counts as changed'(rig) {
    const server = numbers()
    server.resource('note://a', { subscribe: true }, 'a')
    const { connector, counts, cut } = cuttable(rig, server)
    const { onChange, changes } = heard()
    await using client = await connectTo(connector, { era: rig.revision })
    const listening = client.listen({ toolsListChanged: true, resourceSubscriptions: ['note://a'] })
    await listening.ready
    await cut()
    onChange((await listening.next()).value)
    onChange((await listening.next()).value)
    expect(changes.map(({ kind }) => kind).sort()).toEqual(['resource', 'tools'])
    server.resourceUpdated('note://a')
    expect((await listening.next()).value).toEqual({ kind: 'resource', uri: 'note://a' })
    expect(counts.made).toBe(2)
    listening.close()
  },
}
