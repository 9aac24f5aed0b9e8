/** A connection that ends by itself is made again by the next call; what listens goes on. */

import { connect as connectTo } from '@mcpx/client'
import { type Connector, createDuplex, type Duplex, type Responder } from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { createServer, type Server } from '@mcpx/server'
import { caught, settled } from '@mcpx/testkit'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { textOf } from './calling-tools.ts'
import { heard } from './changes.ts'

/** A way to a server that can be cut. */
function cuttable(server: Responder) {
  const ends: Duplex[] = []
  const connector: Connector = {
    connect(options) {
      const [here, there] = createChannelPair()
      ends.push(createDuplex(there, { responder: server }))
      return createDuplex(here, options)
    },
  }
  const cut = async () => {
    await ends.at(-1)?.close()
    await settled()
  }
  return { connector, ends, cut }
}

const numbers = () => createServer({ name: 'cut', version: '1' }).tool('t', {}, () => 'x') as unknown as Server

export const reconnecting: Behaviours = {
  async 'the next call after the connection was cut is made over a new one'({ revision }) {
    const { connector, ends, cut } = cuttable(numbers())
    await using client = await connectTo(connector, { era: revision })
    expect(textOf(await client.callTool('t'))).toBe('x')
    await cut()
    expect(textOf(await client.callTool('t'))).toBe('x')
    expect(client.revision).toBe(revision)
    expect(ends).toHaveLength(2)
  },

  async 'calls that waited when the connection was cut are lost, not repeated'({ revision }) {
    let calls = 0
    const server = numbers()
    server.tool('wait', {}, () => {
      calls += 1
      return new Promise(() => {})
    })
    const { connector, cut } = cuttable(server)
    await using client = await connectTo(connector, { era: revision })
    const waiting = caught(() => client.callTool('wait'))
    await client.callTool('t')
    await cut()
    expect(await waiting).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
    await client.callTool('t')
    expect(calls).toBe(1)
  },

  async 'who listens goes on over the new connection, and what is watched counts as changed'({ revision }) {
    const server = numbers()
    server.resource('note://a', { subscribe: true }, 'a')
    const { connector, ends, cut } = cuttable(server)
    const { onChange, changes } = heard()
    await using client = await connectTo(connector, { era: revision })
    const listening = client.listen({ toolsListChanged: true, resourceSubscriptions: ['note://a'] })
    await listening.ready
    await cut()
    onChange((await listening.next()).value)
    onChange((await listening.next()).value)
    expect(changes.map(({ kind }) => kind).sort()).toEqual(['resource', 'tools'])
    server.resourceUpdated('note://a')
    expect((await listening.next()).value).toEqual({ kind: 'resource', uri: 'note://a' })
    expect(ends).toHaveLength(2)
    listening.close()
  },
}
