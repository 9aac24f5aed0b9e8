/** Runs a protected server, an authorization server and their clients in one worker, and responds with the check results. */
import { clientCredentials, type Fetch } from '@mcpx/auth/client'
import { bearer } from '@mcpx/auth/resource-server'
import { connect } from '@mcpx/client'
import { devAuthorizationServer } from '@mcpx/testing/authorization-server'
import { mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import { desk } from '../desk.ts'
import { equal, match } from '../expectations.ts'
import type { CheckResult } from '../suite.ts'

const issuer = 'https://login.example'
const audience = 'https://desk.example/mcp'
const machine = { clientId: 'job', clientSecret: 'only-for-these-checks', scope: 'desk', issuer }

// Created while the module is loaded, when workers may not use random numbers or timers.
const login = devAuthorizationServer({ issuer, clients: [machine] })
const network: Fetch = async (input, init) => {
  const request = new Request(input, init)
  return (request.url.startsWith(issuer) ? login : guarded).fetch(request)
}
const guarded = mcp(desk, {
  authenticate: bearer({ issuer, audience, scopes: ['desk'], fetch: network, dpop: { nonces: true } }),
  allowedHosts: ['desk.example'],
})

async function calls(era: 'legacy' | 'modern', dpop: boolean): Promise<void> {
  const auth = clientCredentials({ ...machine, dpop })
  const client = await connect(http(audience, { auth, fetch: network }), { era })
  equal((await client.callTool('echo', { text: era })).content, [{ type: 'text', text: era }])
  await client.close()
}

const checks: Readonly<Record<string, () => Promise<void>>> = {
  async 'a guard rejects requests without a token, with the metadata URL'() {
    const { status, headers } = await network(audience, { method: 'POST' })
    equal(status, 401)
    match(headers.get('www-authenticate') ?? '', /^Bearer scope="desk", resource_metadata="https:\/\/desk\.example\//)
  },
  async 'a guard rejects a token for another server'() {
    const token = await login.issue({ scopes: ['desk'], resources: ['https://other.example/mcp'] })
    const headers = { authorization: `Bearer ${token}` }
    match(
      (await network(audience, { method: 'POST', headers })).headers.get('www-authenticate') ?? '',
      /another server/,
    )
  },
  'a machine obtains a token and calls, legacy': () => calls('legacy', false),
  'a machine obtains a token and calls, modern': () => calls('modern', false),
  'a machine uses DPoP with nonces': () => calls('modern', true),
}

async function run([check, attempt]: [string, () => Promise<void>]): Promise<CheckResult> {
  try {
    await attempt()
    return { check }
  } catch (error) {
    return { check, fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

// biome-ignore lint/style/noDefaultExport: workerd reads a worker's handlers from its default export
export default {
  fetch: async (): Promise<Response> => Response.json(await Promise.all(Object.entries(checks).map(run))),
}
