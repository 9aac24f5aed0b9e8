/** A protected server in this process, and clients of a user and of a machine. */

import type { Auth } from '@mcpx/auth/client'
import { manualRedirect } from '@mcpx/auth/client'
import { type BearerOptions, bearer, type RefusedRequest } from '@mcpx/auth/resource-server'
import { connect } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import { z } from 'zod'
import { visit } from './provider.ts'

export const RESOURCE = 'http://127.0.0.1:9/mcp'
const REDIRECT = 'http://127.0.0.1:9/back'

const who = z.object({ subject: z.string(), issuer: z.string(), clientId: z.string(), scopes: z.array(z.string()) })

export const server = createServer({ name: 'protected', version: '1.0.0' })
  .tool('whoami', { output: who }, (_, { auth }) => ({
    subject: auth?.subject ?? '',
    issuer: auth?.issuer ?? '',
    clientId: auth?.clientId ?? '',
    scopes: [...(auth?.scopes ?? [])],
  }))
  .tool('wipe', { scopes: ['admin'] }, () => 'wiped')
  .resource('clock://now', { subscribe: true }, () => new Date().toISOString())

interface ProtectOptions extends Partial<BearerOptions> {
  /** Handles requests to other servers. Default: the global `fetch`. */
  readonly elsewhere?: (request: Request) => Promise<Response>
}

/** Serves the protected server; returns a `fetch` for it and for other servers. */
export function protect({ elsewhere = fetch, ...options }: ProtectOptions) {
  const refused: RefusedRequest[] = []
  const challenges: string[] = []
  const problems: Error[] = []
  const guard = bearer({
    audience: RESOURCE,
    onRefused: (each) => refused.push(each),
    onWarning: (problem) => problems.push(problem),
    ...options,
  })
  const app = mcp(server, { authenticate: guard })
  const reach = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init)
    if (!request.url.startsWith(new URL(RESOURCE).origin)) return elsewhere(request)
    const response = await app.fetch(request)
    const challenge = response.headers.get('www-authenticate')
    if (challenge !== null) challenges.push(`${response.status} ${challenge}`)
    return response
  }
  return {
    refused,
    challenges,
    problems,
    reach,
    connect: (auth: Auth | undefined, more: { readonly era?: 'legacy' | 'modern' } = {}) =>
      connect<typeof server>(http(RESOURCE, { auth, fetch: reach }), more),
  }
}

/** Creates a redirect. Its user logs in with this name. */
export function userCalled(login: string) {
  return manualRedirect(REDIRECT, (url) => visit(url, REDIRECT, login))
}
