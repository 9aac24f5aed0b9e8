/** Input requests of servers behind one proxy or two chained proxies. */

import type { Elicitation } from '@mcpx/client'
import { eraOf, type JsonObject, REVISIONS } from '@mcpx/protocol'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { createProxy, forEachRevision, upstream } from '../proxied.ts'
import { errorTextOf, jsonOf, textOf } from '../results.ts'

const canElicit = REVISIONS.filter((revision) => revision >= '2025-06-18')

export const inputRequestsThroughProxies: Behaviours = {
  async 'input requests pass through a proxy'(rig) {
    await forEachRevision(async (era) => {
      const client = await rig.connect(await createProxy(rig, upstream(), era), {
        onElicit: ({ message }: Elicitation) => ({ action: 'accept', content: { name: `to ${message}` } }),
      })
      expect(textOf(await client.callTool('up.ask'))).toBe('to First? to Second?')
    }, canElicit)
  },

  async 'the server behind a proxy receives the roots of the client'(rig) {
    await forEachRevision(async (era) => {
      const roots = [{ uri: 'file:///a', name: 'A' }]
      const client = await rig.connect(await createProxy(rig, upstream(), era), { roots })
      expect(jsonOf(await client.callTool('up.folders'))).toEqual(roots)
    })
  },

  async 'a client of a proxy without a capability gets an error that names it'(rig) {
    await forEachRevision(async (era) => {
      const client = await rig.connect(await createProxy(rig, upstream(), era))
      const answer = await client.callTool('up.folders').then(errorTextOf, (error: unknown) => error)
      if (rig.era === 'legacy') expect(answer).toBe('The client cannot be asked. The client must declare: roots')
      else expect(answer).toMatchObject({ code: -32021, data: { requiredCapabilities: { roots: {} } } })
    })
  },

  async 'a proxy does not forward the answers to its own input requests'(rig) {
    await forEachRevision(async (era) => {
      const seen: JsonObject[] = []
      const server = upstream().use((request, _ctx, next) => {
        if (request.method === 'tools/call') seen.push(request.params)
        return next()
      })
      const roots = [{ uri: 'file:///a' }]
      const client = await rig.connect(await createProxy(rig, server, era), { roots })
      expect(jsonOf(await client.callTool('up.folders'))).toEqual(roots)
      const answers = seen.map(({ inputResponses = {} }) => Object.keys(inputResponses as object))
      // A modern upstream server uses its own key. A legacy upstream server does not see that the client repeats the
      // call.
      if (eraOf(era) === 'modern') expect(answers).toEqual([[], ['roots']])
      else expect(answers).toEqual(rig.era === 'modern' ? [[], []] : [[]])
    })
  },

  async 'an input request that passes through a proxy causes no warning'(rig) {
    await forEachRevision(async (era) => {
      const client = await rig.connect(await createProxy(rig, upstream(), era), { roots: [] })
      expect(textOf(await client.callTool('up.folders'))).toBe('[]')
      expect(rig.warnings).toEqual([])
    })
  },

  async 'two chained proxies of different eras work like one'(rig) {
    for (const [near, far] of [
      ['2025-11-25', '2026-07-28'],
      ['2026-07-28', '2025-11-25'],
    ] as const) {
      const middle = await createProxy(rig, upstream(), far)
      const client = await rig.connect(await createProxy(rig, middle, near), { roots: [{ uri: 'file:///a' }] })
      expect((await client.listTools().all()).map((tool) => tool.name)).toEqual(
        ['add', 'fail', 'talk', 'ask', 'folders'].map((name) => `up.up.${name}`),
      )
      expect(textOf(await client.callTool('up.up.add', { a: 1, b: 2 }))).toBe('3')
      expect(textOf(await client.callTool('up.up.folders'))).toBe('[{"uri":"file:///a"}]')
      const seen: number[] = []
      await client.callTool('up.up.talk', {}, { onProgress: ({ progress }) => void seen.push(progress) })
      expect(seen).toEqual([1, 2])
    }
  },

  async 'input requests pass through two chained proxies'(rig) {
    for (const [near, far] of [
      ['2025-11-25', '2026-07-28'],
      ['2026-07-28', '2025-11-25'],
    ] as const) {
      const middle = await createProxy(rig, upstream(), far)
      const client = await rig.connect(await createProxy(rig, middle, near), {
        onElicit: ({ message }: Elicitation) => ({ action: 'accept', content: { name: `to ${message}` } }),
      })
      expect(textOf(await client.callTool('up.up.ask'))).toBe('to First? to Second?')
    }
  },
}
