/** Serves a third-party authorization server on a local port, and logs a user in at this server. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'

export const RESOURCE_CLIENT = { clientId: 'resource-server', clientSecret: 'secret-of-the-resource-server' }
export const FRONT_CLIENT = { clientId: 'front', clientSecret: 'secret-of-the-front' }
export const MACHINE = { clientId: 'machine', clientSecret: 'secret-of-the-machine' }

export interface ProviderOptions {
  readonly accessTokens: 'jwt' | 'opaque'
  /** The lifetime of access tokens, in seconds. */
  readonly ttl?: number
  readonly dpopNonces?: boolean
  /**
   * The URL at which the front of an MCP server receives callbacks. Default: the front is not registered as a client.
   */
  readonly frontCallback?: string
}

export interface RunningProvider {
  readonly issuer: string
  /** The grant types of issued tokens. */
  readonly grants: readonly string[]
  close(): Promise<void>
}

export async function startProvider(options: ProviderOptions): Promise<RunningProvider> {
  let answer: ReturnType<Provider['callback']> | undefined
  const http = createServer((request, response) => answer?.(request, response))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const provider = new Provider(issuer, await configurationOf(options))
  const grants: string[] = []
  provider.on('grant.success', ({ oidc }) => grants.push(oidc.params.grant_type))
  answer = provider.callback()
  return {
    issuer,
    grants,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}

async function configurationOf(options: ProviderOptions): Promise<object> {
  const { accessTokens, ttl = 3_600, dpopNonces = false, frontCallback } = options
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: 'one', use: 'sig', alg: 'ES256' }
  return {
    clients: [
      {
        client_id: RESOURCE_CLIENT.clientId,
        client_secret: RESOURCE_CLIENT.clientSecret,
        grant_types: [],
        response_types: [],
        redirect_uris: [],
      },
      {
        client_id: MACHINE.clientId,
        client_secret: MACHINE.clientSecret,
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
      },
      ...(frontCallback === undefined
        ? []
        : [
            {
              client_id: FRONT_CLIENT.clientId,
              client_secret: FRONT_CLIENT.clientSecret,
              grant_types: ['authorization_code', 'refresh_token'],
              application_type: 'native',
              redirect_uris: [frontCallback],
            },
          ]),
    ],
    ttl: { AccessToken: ttl },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    cookies: { keys: ['one key'] },
    jwks: { keys: [key] },
    scopes: ['openid', 'offline_access', 'mcp', 'admin'],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true },
      dPoP: dpopNonces
        ? {
            enabled: true,
            nonceSecret: Buffer.from(crypto.getRandomValues(new Uint8Array(32))),
            requireNonce: () => true,
          }
        : { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: async (_: unknown, resource: string) => ({
          scope: 'mcp admin',
          audience: resource,
          accessTokenTTL: ttl,
          accessTokenFormat: accessTokens,
          jwt: { sign: { alg: 'ES256' } },
        }),
        useGrantedResource: async () => true,
      },
    },
  }
}

/** Follows a URL like a browser, logs in, grants everything, and stops at the redirect of the client. */
export async function visit(start: URL, redirectUri: string, login = 'ada'): Promise<string> {
  const jar = new Map<string, string>()
  let url = start.href
  let form: URLSearchParams | undefined
  for (let steps = 0; steps < 20; steps++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response: Response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    })
    for (const each of response.headers.getSetCookie()) {
      const [pair = ''] = each.split(';')
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const page = await response.text()
    const location = response.headers.get('location')
    form = undefined
    if (location?.startsWith(redirectUri)) return location
    if (location !== null) url = new URL(location, url).href
    else {
      const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1]
      const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1]
      const request = /name="request" value="([^"]+)"/.exec(page)?.[1]
      if (action === undefined || (prompt ?? request) === undefined)
        throw new Error(`${response.status}: ${page.slice(0, 500)}`)
      url = new URL(action.replaceAll('&amp;', '&'), url).href
      form = new URLSearchParams(
        request !== undefined
          ? { request, decision: 'allow' }
          : { prompt: prompt ?? '', ...(prompt === 'login' ? { login, password: 'any' } : {}) },
      )
    }
  }
  throw new Error('The login goes round in circles')
}
