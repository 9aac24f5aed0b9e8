/** Questions from behind proxies, through one and through two of them. */

import type { ElicitAsk } from '@mcpx/client'
import { eraOf, type JsonObject, REVISIONS } from '@mcpx/protocol'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { inEach, proxied, upstream } from '../proxied.ts'
import { complaintOf, jsonOf, textOf } from '../results.ts'

const canElicit = REVISIONS.filter((revision) => revision >= '2025-06-18')

export const askingThroughProxies: Behaviours = {
  async 'questions pass through a proxy'(rig) {
    await inEach(async (era) => {
      const client = await rig.connect(await proxied(rig, upstream(), era), {
        onElicit: ({ message }: ElicitAsk) => ({ action: 'accept', content: { name: `to ${message}` } }),
      })
      expect(textOf(await client.callTool('up.ask'))).toBe('to First? to Second?')
    }, canElicit)
  },

  async 'the folders of the client in front are known behind a proxy'(rig) {
    await inEach(async (era) => {
      const roots = [{ uri: 'file:///a', name: 'A' }]
      const client = await rig.connect(await proxied(rig, upstream(), era), { roots })
      expect(jsonOf(await client.callTool('up.folders'))).toEqual(roots)
    })
  },

  async 'a client in front of a proxy is told what it would have to declare'(rig) {
    await inEach(async (era) => {
      const client = await rig.connect(await proxied(rig, upstream(), era))
      const answer = await client.callTool('up.folders').then(complaintOf, (error: unknown) => error)
      if (rig.era === 'legacy') expect(answer).toBe('The client cannot be asked. The client must declare: roots')
      else expect(answer).toMatchObject({ code: -32021, data: { requiredCapabilities: { roots: {} } } })
    })
  },

  async 'a proxy keeps the answers to its own questions from the server behind it'(rig) {
    await inEach(async (era) => {
      const seen: JsonObject[] = []
      const server = upstream().use((request, _ctx, next) => {
        if (request.method === 'tools/call') seen.push(request.params)
        return next()
      })
      const roots = [{ uri: 'file:///a' }]
      const client = await rig.connect(await proxied(rig, server, era), { roots })
      expect(jsonOf(await client.callTool('up.folders'))).toEqual(roots)
      const answers = seen.map(({ inputResponses = {} }) => Object.keys(inputResponses as object))
      // A modern server asked by itself, under a name of its own; one before it never sees that the call is made anew.
      if (eraOf(era) === 'modern') expect(answers).toEqual([[], ['roots']])
      else expect(answers).toEqual(rig.era === 'modern' ? [[], []] : [[]])
    })
  },

  async 'a question that passes through a proxy is no fault'(rig) {
    await inEach(async (era) => {
      const client = await rig.connect(await proxied(rig, upstream(), era), { roots: [] })
      expect(textOf(await client.callTool('up.folders'))).toBe('[]')
      expect(rig.reports).toEqual([])
    })
  },

  async 'two proxies in a row, one of each era, are as one'(rig) {
    for (const [near, far] of [
      ['2025-11-25', '2026-07-28'],
      ['2026-07-28', '2025-11-25'],
    ] as const) {
      const middle = await proxied(rig, upstream(), far)
      const client = await rig.connect(await proxied(rig, middle, near), { roots: [{ uri: 'file:///a' }] })
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

  async 'questions pass through two proxies in a row'(rig) {
    for (const [near, far] of [
      ['2025-11-25', '2026-07-28'],
      ['2026-07-28', '2025-11-25'],
    ] as const) {
      const middle = await proxied(rig, upstream(), far)
      const client = await rig.connect(await proxied(rig, middle, near), {
        onElicit: ({ message }: ElicitAsk) => ({ action: 'accept', content: { name: `to ${message}` } }),
      })
      expect(textOf(await client.callTool('up.up.ask'))).toBe('to First? to Second?')
    }
  },
}
