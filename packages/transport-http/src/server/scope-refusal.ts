/** Answers callers who lack scopes with the status and the challenge that make their clients get them. */

import { ErrorCode, type ResponseMessage } from '@mcpx/protocol'
import { JSON_TYPE } from '../headers.ts'
import type { Host, Inbound } from './host.ts'
import { HttpAnswer } from './http-answer.ts'

/** The scopes whose lack is what is answered; nothing for any other answer. */
export function lackedScopes(answer: ResponseMessage): readonly string[] | undefined {
  if (!('error' in answer) || answer.error.code !== ErrorCode.InsufficientScope) return undefined
  const { requiredScopes } = (answer.error.data ?? {}) as { requiredScopes?: unknown }
  return Array.isArray(requiredScopes) ? requiredScopes.filter((scope) => typeof scope === 'string') : undefined
}

export function scopeAnswer(text: string, requiredScopes: readonly string[], inbound: Inbound, host: Host): HttpAnswer {
  const { request, auth } = inbound
  const refused = host.options.authenticate?.refuse?.(request.web, { requiredScopes, auth })
  const status = refused?.status ?? (auth === undefined ? 401 : 403)
  const headers = new Headers(refused?.headers)
  if (refused === undefined) headers.set('www-authenticate', challenge(requiredScopes, inbound))
  headers.set('content-type', JSON_TYPE)
  return new HttpAnswer(status, headers, text)
}

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** One challenge for all that the request needs. What is held already is in it: a new token takes the place of the old one. */
function challenge(requiredScopes: readonly string[], { auth }: Inbound): string {
  const scopes = new Set([...(auth?.scopes ?? []), ...requiredScopes].filter((scope) => SCOPE.test(scope)))
  const scope = `scope="${[...scopes].join(' ')}"`
  return auth === undefined ? `Bearer ${scope}` : `Bearer error="insufficient_scope", ${scope}`
}
