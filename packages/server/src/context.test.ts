import { type Context, REVISIONS } from '@mcpx/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { createServer, type Middleware, roots, timeout } from './index.ts'
import { closeAll, connect } from './peers.fixture.ts'

afterEach(closeAll)

const info = { name: 's', version: '1' }
const form = { type: 'object' as const, properties: {} }
const answers = {
  'elicitation/create': () => ({ action: 'accept', content: {} }),
  'sampling/createMessage': () => ({ role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' }),
  'roots/list': () => ({ roots: [{ uri: 'file:///work' }] }),
}

describe.each(REVISIONS)('the members of a context, in revision %s', (revision) => {
  it.each([
    ['by itself', undefined],
    ['behind a middleware that wraps it', timeout(60_000)],
  ])('work when destructured, %s', async (_where, middleware) => {
    const declared = revision >= '2025-11-25' ? { elicitation: { form: {}, url: {} } } : { elicitation: { form: {} } }
    const server = createServer(info)
    if (middleware !== undefined) server.use(middleware)
    server.tool('t', {}, async (_args, ctx) => {
      const { progress, log, closeStream, step, elicit, openUrl, sample, roots: rootsOf, ask } = ctx
      const { info: say } = log
      closeStream()
      await progress(1, 2, 'half')
      await say('said')
      const once = await step('once', () => 1)
      const { folders: asked } = await ask({ folders: roots() })
      const { content } = await sample('s', { messages: [], maxTokens: 1 })
      const [first] = await rootsOf()
      const isAsked = revision >= '2025-06-18'
      const { action } = isAsked ? await elicit('e', { message: 'm', schema: form }) : { action: 'accept' }
      const visit = revision >= '2025-11-25' ? await openUrl('u', { message: 'm', url: 'https://a.test' }) : { action }
      return JSON.stringify([once, asked?.length, content, first?.uri, action, visit.action])
    })
    const peer = await connect(server, revision, answers, { ...declared, sampling: {}, roots: {} })
    const result = await peer.call('tools/call', { name: 't', arguments: {} }, { progress: true })
    expect(JSON.parse(result.content[0]?.text ?? '')).toEqual([
      1,
      1,
      { type: 'text', text: 'hi' },
      'file:///work',
      'accept',
      'accept',
    ])
    expect(peer.heard.map(({ method }) => method)).toContain('notifications/progress')
  })
})

describe.each(REVISIONS)('a middleware that passes on another context, in revision %s', (revision) => {
  const auth = { clientId: 'c', subject: 'other', scopes: [] } as unknown as NonNullable<Context['auth']>
  const ways: Record<string, Middleware> = {
    'by what is other in it': (request, _ctx, next) => next(request, { auth }),
    'by a copy with something else': (request, ctx, next) => next(request, { ...ctx, auth }),
    'by an object that inherits from it': (request, ctx, next) =>
      next(request, Object.create(ctx, { auth: { value: auth } })),
  }

  it.each(Object.entries(ways))('%s, leaves everything else unchanged', async (_way, middleware) => {
    const seen: unknown[] = []
    const server = createServer(info)
      .use(middleware)
      .use((request, ctx, next) => next(request, { ...ctx, meta: { more: 1 } }))
      .tool('t', {}, async (_args, ctx) => {
        seen.push(ctx.auth?.subject, ctx.meta, ctx.signal.aborted)
        const once = await ctx.step('once', () => seen.length)
        const [root] = await ctx.roots()
        return `${once} ${root?.uri}`
      })
    const peer = await connect(server, revision, answers, { roots: {} })
    const result = await peer.call('tools/call', { name: 't', arguments: {} })
    expect(result.content).toEqual([{ type: 'text', text: '3 file:///work' }])
    expect(seen.slice(0, 3)).toEqual(['other', { more: 1 }, false])
  })
})
