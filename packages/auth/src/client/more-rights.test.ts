import { describe, expect, it } from 'vitest'
import { oauth } from './oauth.ts'
import { caught, ok, visits, World } from './world.fixture.ts'

const forbidden = (scope: string) =>
  new Response('', {
    status: 403,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  })

describe('more rights', () => {
  it('are asked for together with those of before, and the request is sent again [C-152]', async () => {
    const world = new World({
      resource: { scopes_supported: ['read'] },
      serve: ({ method }, scope) => (method === 'POST' && !scope.includes('write') ? forbidden('write') : undefined),
    })
    const fetch = oauth({ redirect: world.redirect })(world.fetch)
    await ok(fetch(world.mcp))
    await ok(fetch(world.mcp, { method: 'POST', body: '{}' }))
    expect(visits(world).map(({ scope }) => scope)).toEqual(['read', 'read write'])
  })

  it('are asked for a few times, and then no more, however often the call is made [C-152]', async () => {
    const one = new World({
      token: { scope: 'read' },
      serve: (request) => (request.method === 'POST' ? forbidden('write') : undefined),
    })
    const fetch = oauth({ redirect: one.redirect, maxStepUps: 2 })(one.fetch)
    for (let call = 0; call < 4; call++) {
      const error = await caught(() => fetch(one.mcp, { method: 'POST', body: '{}' }))
      expect(error).toMatchObject({
        step: 'authorization',
        message: expect.stringMatching(/wants the scope write, and did not get it/),
      })
    }
    expect(one.logins).toBe(3)
    await ok(fetch(one.mcp))
  })

  it('are asked for a few times in one request, also by a server that thinks of ever new ones [C-152]', async () => {
    let count = 0
    const one = new World({ serve: (request) => (request.method === 'POST' ? forbidden(`s${++count}`) : undefined) })
    const fetch = oauth({ redirect: one.redirect })(one.fetch)
    await ok(fetch(one.mcp))
    const error = await caught(() => fetch(one.mcp, { method: 'POST', body: '{}' }))
    expect(error).toMatchObject({
      step: 'authorization',
      message: expect.stringMatching(/wants more scopes each time/),
    })
    expect(one.logins).toBe(1 + 2)
  })

  it('that a challenge does not name are nothing that could be asked for', async () => {
    const one = new World({ serve: () => new Response('', { status: 403 }) })
    const response = await oauth({ redirect: one.redirect })(one.fetch)(one.mcp)
    expect([response.status, one.logins]).toEqual([403, 1])
  })
})
