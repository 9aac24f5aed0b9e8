import { eraOf, REVISIONS, RpcError } from '@mcpx/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { createServer, type Middleware, rateLimit, type Server } from './index.ts'
import { closeAll, connect, type Peer } from './peers.fixture.ts'

afterEach(closeAll)

const info = { name: 's', version: '1' }

/** Notes what passes; keeps everybody from what is under `secret:`. */
function guardInto(seen: unknown[]): Middleware {
  return (request, _ctx, next) => {
    seen.push([request.method, request.params.uri ?? request.params.level])
    if (String(request.params.uri).includes('secret:')) throw new RpcError(-32001, 'Not for you')
    return next()
  }
}

function watched(): Server {
  return createServer(info)
    .resource('open://a', { subscribe: true }, 'a')
    .resource('secret://b', { subscribe: true }, 'b')
    .tool('t', {}, () => 'done')
}

async function watch(peer: Peer, isLegacy: boolean, uris: string[]): Promise<unknown[]> {
  if (isLegacy) {
    const answers = await Promise.all(uris.map((uri) => peer.call('resources/subscribe', { uri })))
    return uris.filter((_, index) => answers[index]?.code === undefined)
  }
  void peer.call('subscriptions/listen', { notifications: { resourceSubscriptions: uris } }, { progress: true })
  await new Promise((resolve) => setTimeout(resolve, 5))
  const confirmed = peer.heard.find(({ method }) => method.endsWith('acknowledged'))?.params?.notifications
  return (confirmed as { resourceSubscriptions?: unknown[] } | undefined)?.resourceSubscriptions ?? []
}

describe.each(REVISIONS)('middleware in revision %s', (revision) => {
  const isLegacy = eraOf(revision) === 'legacy'

  it.each([
    ['of the server', '', (guard: Middleware) => watched().use(guard)],
    ['of a mounted server', 'm.', (guard: Middleware) => createServer(info).mount('m', watched().use(guard))],
  ])('%s decides who may subscribe to a resource', async (_where, prefix, make) => {
    const seen: unknown[] = []
    const peer = await connect(make(guardInto(seen)), revision)
    const uris = [`${prefix}open://a`, `${prefix}secret://b`]
    expect(await watch(peer, isLegacy, uris)).toEqual(uris.slice(0, 1))
    expect(seen).toEqual([
      ['resources/subscribe', 'open://a'],
      ['resources/subscribe', 'secret://b'],
    ])
  })

  it('sees unsubscribing, which no limit prevents', async () => {
    const seen: unknown[] = []
    const server = watched()
      .use(guardInto(seen))
      .use(rateLimit({ limit: 1, window: 60_000 }))
    const peer = await connect(server, revision)
    await watch(peer, isLegacy, ['open://a'])
    const left = isLegacy ? await peer.call('resources/unsubscribe', { uri: 'open://a' }) : await peer.close()
    await new Promise((resolve) => setTimeout(resolve, 5))
    if (isLegacy) expect(left).toEqual({})
    expect(seen).toEqual([
      ['resources/subscribe', 'open://a'],
      ['resources/unsubscribe', 'open://a'],
    ])
  })
})

describe('middleware in a session', () => {
  it.each(REVISIONS.filter((each) => eraOf(each) === 'legacy'))('sees log levels in revision %s', async (revision) => {
    const seen: unknown[] = []
    const peer = await connect(createServer(info).mount('m', watched().use(guardInto(seen))), revision)
    expect(await peer.call('logging/setLevel', { level: 'error' })).toEqual({})
    expect(seen).toEqual([['logging/setLevel', 'error']])
  })
})
