/** One proxy with several clients: messages of one client's calls never reach another client. */

import { type Client, proxy } from '@mcpx/client'
import { REVISIONS, type Revision } from '@mcpx/protocol'
import { createServer, type Server } from '@mcpx/server'
import { expect } from 'vitest'
import * as z from 'zod'
import type { Behaviours } from '../behaviour.ts'
import { textOf } from '../results.ts'
import type { Rig } from '../rig.ts'

const who = z.object({ who: z.string() })
const legacy = REVISIONS.filter((revision) => revision < '2026-07-28')
const modern = REVISIONS.filter((revision) => revision >= '2026-07-28')

function upstream() {
  return createServer({ name: 'upstream', version: '1' })
    .tool('log', { input: who }, async ({ who }, ctx) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      await ctx.log.error(who)
      await new Promise((resolve) => setTimeout(resolve, 5))
      return who
    })
    .tool('ask', { input: who }, async ({ who }, ctx) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      const roots = await ctx.roots()
      return `${who} works in ${roots[0]?.name}`
    })
}

async function callers(rig: Rig, era: Revision) {
  const client = (await rig.connect(upstream() as unknown as Server, {
    era,
    logLevel: 'info',
    capabilities: { roots: {} },
  })) as Client
  const server = createServer({ name: 'proxy', version: '1' }).mount('up', proxy(client))
  return Promise.all(
    ['ada', 'bob', 'cyd'].map(async (name) => {
      const logs: unknown[] = []
      const roots = [{ uri: 'file:///a', name }]
      const options = { roots, logLevel: 'info', onLog: ({ data }: { data: unknown }) => void logs.push(data) } as const
      return { name, logs, client: await rig.connect(server, options) }
    }),
  )
}

async function requestRootsOfAll(rig: Rig, eras: readonly Revision[]): Promise<void> {
  for (const era of eras) {
    const all = await callers(rig, era)
    const answers = all.map(async ({ name, client }) => textOf(await client.callTool('up.ask', { who: name })))
    expect(await Promise.all(answers)).toEqual(all.map(({ name }) => `${name} works in ${name}`))
  }
}

export const sharedProxies: Behaviours = {
  async 'each client of a shared proxy of a modern server receives the input requests of its own calls'(rig) {
    await requestRootsOfAll(rig, modern)
  },

  async 'each client of a shared proxy of a legacy server receives the input requests of its own calls'(rig) {
    await requestRootsOfAll(rig, legacy)
  },

  async 'each client of a shared proxy receives the logs of its own calls'(rig) {
    for (const era of REVISIONS) {
      const all = await callers(rig, era)
      const calls = all.map(async ({ name, client }) => textOf(await client.callTool('up.log', { who: name })))
      expect(await Promise.all(calls)).toEqual(all.map(({ name }) => name))
      for (const { name, logs } of all) expect(logs).toEqual([name])
    }
  },
}
