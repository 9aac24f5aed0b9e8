import { describe, expect, it } from 'vitest'
import { oauth } from './oauth.ts'
import { caught, ok, visits, World } from './world.fixture.ts'

const forbidden = (scope: string) =>
  new Response('', {
    status: 403,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  })

describe('more scopes', () => {
  it('are requested together with the previous ones, and the request is repeated [C-152]', async () => {
    const world = new World({
      resource: { scopes_supported: ['read'] },
      serve: ({ method }, scope) => (method === 'POST' && !scope.includes('write') ? forbidden('write') : undefined),
    })
    const fetch = oauth({ redirect: world.redirect })(world.fetch)
    await ok(fetch(world.mcp))
    await ok(fetch(world.mcp, { method: 'POST', body: '{}' }))
    expect(visits(world).map(({ scope }) => scope)).toEqual(['read', 'read write'])
  })

  it('are requested a limited number of times for several calls [C-152]', async () => {
    const one = new World({
      token: { scope: 'read' },
      serve: (request) => (request.method === 'POST' ? forbidden('write') : undefined),
    })
    const fetch = oauth({ redirect: one.redirect, maxStepUps: 2 })(one.fetch)
    for (let call = 0; call < 4; call++) {
      const error = await caught(() => fetch(one.mcp, { method: 'POST', body: '{}' }))
      expect(error).toMatchObject({
        step: 'authorization',
        message: expect.stringMatching(/requires the scope write, and it was requested without success/),
      })
    }
    expect(one.logins).toBe(3)
    await ok(fetch(one.mcp))
  })

  it('are requested a limited number of times for one call, even if the server names others each time [C-152]', async () => {
    let count = 0
    const one = new World({ serve: (request) => (request.method === 'POST' ? forbidden(`s${++count}`) : undefined) })
    const fetch = oauth({ redirect: one.redirect })(one.fetch)
    await ok(fetch(one.mcp))
    const error = await caught(() => fetch(one.mcp, { method: 'POST', body: '{}' }))
    expect(error).toMatchObject({
      step: 'authorization',
      message: expect.stringMatching(/requires other scopes each time/),
    })
    expect(one.logins).toBe(1 + 2)
  })

  it('are not requested without a challenge that names them', async () => {
    const one = new World({ serve: () => new Response('', { status: 403 }) })
    const response = await oauth({ redirect: one.redirect })(one.fetch)(one.mcp)
    expect([response.status, one.logins]).toEqual([403, 1])
  })
})
