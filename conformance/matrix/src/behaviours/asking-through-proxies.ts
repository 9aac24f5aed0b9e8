/** Questions from behind proxies, through one and through two of them. */

import type { ElicitAsk } from '@mcpx/client'
import { REVISIONS } from '@mcpx/protocol'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { inEach, proxied, upstream } from '../proxied.ts'
import type { Rig } from '../rig.ts'
import { textOf } from './calling-tools.ts'

/**
 * A question that reaches a modern client ends the call behind the proxy, which counts as a fault there; and the answer
 * goes along when that call is made anew.
 */
function forgiveQuestions({ reports }: Rig): void {
  const known = (report: Error) => report.name === 'InputRequired' || report.message.includes('"inputResponses"')
  const others = reports.splice(0).filter((report) => !known(report))
  reports.push(...others)
}

const canElicit = REVISIONS.filter((revision) => revision >= '2025-06-18')

export const askingThroughProxies: Behaviours = {
  async 'questions pass through a proxy'(rig) {
    await inEach(async (era) => {
      const client = await rig.connect(await proxied(rig, upstream(), era), {
        onElicit: ({ message }: ElicitAsk) => ({ action: 'accept', content: { name: `to ${message}` } }),
      })
      expect(textOf(await client.callTool('up.ask'))).toBe('to First? to Second?')
    }, canElicit)
    forgiveQuestions(rig)
  },

  async 'the folders of the client in front are known behind a proxy'(rig) {
    await inEach(async (era) => {
      const roots = [{ uri: 'file:///a', name: 'A' }]
      const client = await rig.connect(await proxied(rig, upstream(), era), { roots })
      expect(JSON.parse(textOf(await client.callTool('up.folders')))).toEqual(roots)
    })
    forgiveQuestions(rig)
  },

  async 'a client in front of a proxy is told what it would have to declare'(rig) {
    await inEach(async (era) => {
      const client = await rig.connect(await proxied(rig, upstream(), era))
      const answer = await client.callTool('up.folders').catch((error) => error)
      rig.reports.splice(0)
      if (rig.era === 'modern') expect(answer).toMatchObject({ code: -32021 })
      else expect(textOf(answer)).toContain('roots')
    })
  },

  async 'a proxy keeps the answers to its own questions from the server behind it'(rig) {
    await inEach(async (era) => {
      const seen: unknown[] = []
      const server = upstream().use((request, _ctx, next) => {
        seen.push(request.params)
        return next()
      })
      const client = await rig.connect(await proxied(rig, server, era), { roots: [{ uri: 'file:///a' }] })
      await client.callTool('up.folders')
      rig.reports.splice(0)
      expect(JSON.stringify(seen)).not.toContain('upstream-1')
    })
  },

  async 'a question that passes through a proxy is no fault'(rig) {
    await inEach(async (era) => {
      const client = await rig.connect(await proxied(rig, upstream(), era), { roots: [] })
      await client.callTool('up.folders')
      expect(rig.reports.splice(0)).toEqual([])
    })
  },

  async 'two proxies in a row, one of each era, are as one'(rig) {
    for (const [near, far] of [
      ['2025-11-25', '2026-07-28'],
      ['2026-07-28', '2025-11-25'],
    ] as const) {
      const middle = await proxied(rig, upstream(), far)
      const client = await rig.connect(await proxied(rig, middle, near), { roots: [{ uri: 'file:///a' }] })
      expect((await client.listTools().all()).map((tool) => tool.name)).toContain('up.up.add')
      expect(textOf(await client.callTool('up.up.add', { a: 1, b: 2 }))).toBe('3')
      expect(textOf(await client.callTool('up.up.folders'))).toBe('[{"uri":"file:///a"}]')
      const seen: number[] = []
      await client.callTool('up.up.talk', {}, { onProgress: ({ progress }) => void seen.push(progress) })
      expect(seen).toEqual([1, 2])
    }
    forgiveQuestions(rig)
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
    forgiveQuestions(rig)
  },
}
