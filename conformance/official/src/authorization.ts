/** Runs the suite's mode for authorization servers against the OAuth front and the development server. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createAdaptorServer } from '@hono/node-server'
import { oauthFront, oidc } from '@mcpx/auth/front'
import { devAuthorizationServer } from '@mcpx/testing/authorization-server'
import { evaluate, missing, type Verdict } from './evaluate.ts'
import { excuses } from './excused.ts'
import { notYet } from './not-yet.ts'
import { collect, list } from './suite.ts'

type Handler = (request: Request) => Response | Promise<Response>

/** Creates the tested server for an origin. */
const servers: Readonly<Record<string, (origin: string) => Handler>> = {
  oauthFront(origin) {
    const upstream = `${origin}/upstream`
    const [clientId, clientSecret] = ['front', 'secret of the front']
    const client = { clientId, clientSecret, redirectUris: [`${origin}/callback`] }
    const provider = devAuthorizationServer({ issuer: upstream, clients: [client] })
    const { routes } = oauthFront({
      issuer: origin,
      provider: oidc({ issuer: upstream, clientId, clientSecret }),
      secrets: ['a secret of 32 characters for this run'],
      fetch: (url, init) => provider.fetch(new Request(url, init)),
    })
    return (request) => (request.url.includes('/upstream') ? provider.fetch(request) : routes.fetch(request))
  },
  devAuthorizationServer: (origin) => devAuthorizationServer({ issuer: origin }).fetch,
}

export async function testAuthorizationServers(folder: string): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  for (const [name, create] of Object.entries(servers)) {
    const tested = await testServer(create, join(folder, name))
    verdicts.push(...tested.map((verdict) => ({ ...verdict, scenario: `${verdict.scenario} (${name})` })))
  }
  return verdicts
}

async function testServer(create: (origin: string) => Handler, folder: string): Promise<Verdict[]> {
  let handle: Handler = () => new Response(null, { status: 503 })
  const http = createAdaptorServer({ fetch: (request) => handle(request) }) as Server
  const origin = `http://127.0.0.1:${await listen(http)}`
  handle = create(origin)
  try {
    const port = await freePort()
    const callback = `http://127.0.0.1:${port}/callback`
    const client = ['--client-id', await register(origin, callback), '--resource', `${origin}/mcp`]
    const args = ['--url', origin, ...client, '--port', String(port)]
    const visits = new Set<string>()
    let problem = ''
    const visitPage = (text: string) => {
      // The suite prints the URL of the page and starts its server for the callback at once.
      const [page] = text.match(/^http:\S+\/authorize\?\S+$(?=\n)/m) ?? []
      if (page === undefined || visits.has(page) || !text.includes('Callback server started')) return
      visits.add(page)
      visit(page, callback).catch((error: unknown) => {
        problem = String(error)
      })
    }
    const { scenarioOutputs } = await collect('authorization server', args, folder, { onOutput: visitPage })
    const verdicts = scenarioOutputs.map((each) => evaluate(each, { excuses, notYet }))
    const { all } = await list('authorization server', ['--authorization'])
    const ran = verdicts.map(({ scenario }) => scenario)
    const left = all.filter((name) => !ran.includes(name)).map(missing)
    if (all.length === 0) left.push(missing('(all)'))
    if (problem !== '') left.push({ ...missing('(browser)'), reasons: [problem] })
    return [...verdicts, ...left]
  } finally {
    http.closeAllConnections()
    http.close()
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function freePort(): Promise<number> {
  const server = createAdaptorServer({ fetch: () => new Response() }) as Server
  const port = await listen(server)
  server.close()
  return port
}

async function register(origin: string, redirectUri: string): Promise<string> {
  const response = await fetch(`${origin}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'The official suite',
      redirect_uris: [redirectUri],
      application_type: 'native',
      token_endpoint_auth_method: 'none',
    }),
  })
  return ((await response.json()) as { client_id: string }).client_id
}

/** Follows a URL like a browser, agrees to everything, and ends at the callback of the suite. */
async function visit(page: string, callback: string): Promise<void> {
  let cookie = ''
  let url = page
  let form: URLSearchParams | undefined
  for (let steps = 0; steps < 10; steps++) {
    const init = form === undefined ? {} : { method: 'POST', body: form }
    const response = await fetch(url, { redirect: 'manual', headers: { cookie }, ...init })
    const text = await response.text()
    if (url.startsWith(callback)) return
    cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie
    const location = response.headers.get('location')
    const action = /<form method="post" action="([^"]+)"/.exec(text)?.[1]
    const request = /name="request" value="([^"]+)"/.exec(text)?.[1]
    form = undefined
    if (location !== null) url = new URL(location, url).href
    else if (action !== undefined && request !== undefined) {
      url = action
      form = new URLSearchParams({ request, decision: 'allow' })
    } else throw new Error(`${response.status} ${text}`)
  }
  throw new Error('The login goes round in circles')
}
