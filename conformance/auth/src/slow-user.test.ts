import { setTimeout as wait } from 'node:timers/promises'
import { AuthError, manualRedirect, oauth } from '@mcpx/auth/client'
import { connect } from '@mcpx/client'
import { devAuthorizationServer } from '@mcpx/testing/authorization-server'
import { http } from '@mcpx/transport-http/client'
import { expect, it } from 'vitest'
import { protect, RESOURCE } from './protected.ts'

/** The timeout for servers, in milliseconds. Users take longer. */
const PATIENCE = 500

function world() {
  const login = devAuthorizationServer({ issuer: 'https://login.example.com' })
  const elsewhere = (request: Request) => login.fetch(request)
  const fetch = (input: string | URL | Request, init?: RequestInit) => elsewhere(new Request(input, init))
  return { fetch, ...protect({ issuer: login.issuer, fetch, elsewhere, scopes: ['mcp'] }) }
}

it.each(['auto', 'legacy'] as const)(
  'a client waits for its user without a timeout, and for servers with one [%s]',
  async (era) => {
    const { reach, fetch } = world()
    let visits = 0
    const redirect = manualRedirect('https://app.example.com/back', async (page) => {
      visits += 1
      await wait(PATIENCE * 1.5)
      return (await fetch(page, { redirect: 'manual' })).headers.get('location') ?? ''
    })
    const connector = http(RESOURCE, { auth: oauth({ redirect }), fetch: reach, probeTimeout: PATIENCE })
    const client = await connect(connector, { era })
    expect(client.revision).toBe(era === 'legacy' ? '2025-11-25' : '2026-07-28')
    // The tool needs more scopes than the first login granted.
    const wiped = await client.callTool('wipe', {}, { timeout: PATIENCE, maxTimeout: PATIENCE })
    expect(wiped.content).toEqual([{ type: 'text', text: 'wiped' }])
    expect(visits).toBe(2)
    await client.close()
  },
)

it('connect rejects with the error of the login', async () => {
  const { reach } = world()
  const redirect = manualRedirect('https://app.example.com/back', (page) => {
    return `https://app.example.com/back?state=${page.searchParams.get('state')}&iss=https://evil.example`
  })
  const error = await connect(http(RESOURCE, { auth: oauth({ redirect }), fetch: reach })).catch(
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(AuthError)
  expect(error).toMatchObject({ step: 'authorization', message: expect.stringMatching(/evil\.example/) })
})
