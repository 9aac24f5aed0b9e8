/** What does not work with others, and why that is their side of it, or what our side leaves out. */

import type { Exception } from './verdict.ts'
import { legacy, type Way } from './ways.ts'

type Where = { readonly [Key in keyof Way]?: Way[Key] | readonly Way[Key][] }

export interface SdkException extends Exception {
  readonly feature: string
  readonly where: Where
}

export const sdkExceptions: readonly SdkException[] = [
  {
    feature: 'an unknown tool is refused',
    where: { ours: 'client', peer: 'sdk-1' },
    kind: 'breaks',
    reason: 'a result says that the tool is not there, where the specification wants the error -32602',
    seen: /"isError":true/,
  },
  {
    feature: 'an unknown method is refused',
    where: { ours: 'server', peer: 'sdk-2', carrier: 'http', revision: '2026-07-28' },
    kind: 'lacks',
    reason: 'its client does not read the error in an answer of status 404, which its own server gives too',
    seen: /CLIENT_HTTP_NOT_IMPLEMENTED/,
  },
  {
    feature: 'a session that the server has forgotten is begun anew',
    where: { ours: 'server', carrier: 'http', revision: legacy },
    kind: 'breaks',
    reason: 'its client passes the status 404 on as an error, where the specification wants a new session',
    seen: /There is no such session, or no longer/,
  },
  {
    feature: 'a stream of changes that is lost is opened again',
    where: { ours: 'server', peer: 'sdk-2', carrier: 'http', revision: '2026-07-28' },
    kind: 'lacks',
    reason: 'its client leaves it to its users to listen again',
    seen: /over another stream: it did not happen/,
  },
  {
    feature: 'a stream that is lost is taken up again',
    where: { ours: 'server', peer: 'sdk-2', carrier: 'http', revision: ['2025-03-26', '2025-06-18'] },
    kind: 'left out',
    reason:
      'our server gives events no ids before 2025-11-25: they begin with one without data, which older clients take for a broken message',
    seen: /the rest was asked for: it did not happen/,
  },
]

export interface StrangerException extends Exception {
  readonly package: string
  readonly over: string
  readonly check: string
}

export const strangerExceptions: readonly StrangerException[] = [
  {
    package: '@ai-sdk/mcp',
    over: 'http, sessions',
    check: 'has nothing to complain of',
    kind: 'breaks',
    reason: 'it takes the event without data, by which 2025-11-25 has streams begin, for a broken message; it goes on',
    seen: /Failed to parse message/,
  },
  {
    package: 'mcp-lite',
    over: 'http',
    check: 'fills in a form',
    kind: 'breaks',
    reason: 'it agrees on 2025-03-26 with whoever speaks a newer revision than it knows, then asks what came later',
    seen: /Method not found: "elicitation\/create"/,
  },
]

export function sdkException(feature: string, way: Way, all = sdkExceptions): SdkException | undefined {
  return all.find((each) => each.feature === feature && fits(each.where, way))
}

export function strangerException(
  name: string,
  over: string,
  check: string,
  all = strangerExceptions,
): StrangerException | undefined {
  return all.find((each) => each.package === name && each.over === over && each.check === check)
}

function fits(where: Where, way: Way): boolean {
  return Object.entries(where).every(([key, wanted]) => [wanted].flat().includes(way[key as keyof Way]))
}
