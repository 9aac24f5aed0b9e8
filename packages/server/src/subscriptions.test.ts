import type { Change, Handler } from '@mcpx/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { createServer, type Server } from './index.ts'
import { closeAll, connect } from './peers.fixture.ts'

afterEach(closeAll)

const settled = () => new Promise((resolve) => setTimeout(resolve, 2))
const deaf = new Error('deaf')

const tools = (changes: Handler['changes']): Handler => ({
  listTools: () => ({ tools: [] }),
  callTool: () => ({ content: [] }),
  ...(changes && { changes }),
})
const part = (tool: string) => createServer({ name: 'part', version: '1' }).tool(tool, {}, () => 'x')

/** How handlers keep who listens. */
const KEEPERS = {
  'a Set'() {
    const listeners = new Set<(change: Change) => void>()
    const change = () => {
      for (const listener of listeners) listener({ kind: 'tools' })
    }
    const changes = (listener: (change: Change) => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
    return { change, changes }
  },
  'room for one'() {
    let only: ((change: Change) => void) | undefined
    const changes = (listener: (change: Change) => void) => {
      only = listener
      return () => {
        only = undefined
      }
    }
    return { change: () => only?.({ kind: 'tools' }), changes }
  },
}

const GROWTH: Record<string, (server: Server) => void> = {
  'a tool is added': (server) => void server.tool('own', {}, () => 'x'),
  'a server is mounted': (server) => void server.mount('p', part('a')),
}

const REVISIONS = ['2025-11-25', '2026-07-28'] as const

/** One who listens, and what it has heard since it was last asked. */
async function listening(server: Server, revision: (typeof REVISIONS)[number]) {
  const { call, heard } = await connect(server, revision)
  const notifications = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }
  if (revision === '2026-07-28') void call('subscriptions/listen', { notifications }, { progress: true })
  const told = async () => {
    await settled()
    const methods = heard.splice(0).map(({ method }) => method.split('/').at(-2))
    return methods.filter((kind) => kind !== 'subscriptions')
  }
  await told()
  return told
}

describe.each(REVISIONS)('a listener with %s', (revision) => {
  for (const [keeper, create] of Object.entries(KEEPERS))
    for (const [growth, grow] of Object.entries(GROWTH))
      it(`still receives the changes of a handler that keeps its listeners in ${keeper} when ${growth} beside it`, async () => {
        const { change, changes } = create()
        const server = createServer({ name: 's', version: '1' }, tools(changes))
        const told = await listening(server, revision)
        grow(server)
        expect(await told()).toEqual(['tools'])
        change()
        expect(await told()).toEqual(['tools'])
      })

  it('receives changes of all parts except one that does not support them, which was mounted before or later', async () => {
    const errors: unknown[] = []
    const good = part('own')
    const faulty = createServer({ name: 's', version: '1' }, { onError: (error) => void errors.push(error) })
      .tool('own', {}, () => 'x')
      .mount(
        'deaf',
        tools(() => {
          throw deaf
        }),
      )
    const first = await listening(faulty, revision)
    expect(errors.splice(0)).toEqual([deaf])
    faulty.mount('good', good)
    expect(await first()).toEqual(['tools'])
    const second = await listening(faulty, revision)
    for (const one of [good, faulty]) {
      one.tool('late', {}, () => 'x')
      expect([await first(), await second()]).toEqual([['tools'], ['tools']])
    }
    expect(new Set(errors)).toEqual(new Set([deaf]))
  })
})

describe('the handler of a server', () => {
  it('passes errors of change listeners to onError, and calls all other listeners', async () => {
    const errors: unknown[] = []
    const server = createServer({ name: 's', version: '1' }, { onError: (error) => void errors.push(error) })
    const heard: string[] = []
    server.handler.changes?.(() => {
      throw deaf
    })
    server.handler.changes?.(({ kind }) => void heard.push(kind))
    server.tool('a', {}, () => 'x')
    await settled()
    server.mount('p', part('a'))
    await settled()
    server.resourceUpdated('a:1')
    expect([heard, errors]).toEqual([
      ['tools', 'tools', 'resource'],
      [deaf, deaf, deaf],
    ])
  })
})
