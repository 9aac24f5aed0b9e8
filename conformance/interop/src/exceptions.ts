/** Known failures with other implementations, with the reason, and with the side that causes them. */

import type { Exception } from './outcome.ts'
import { legacy, type Pairing } from './pairings.ts'

type Where = { readonly [Key in keyof Pairing]?: Pairing[Key] | readonly Pairing[Key][] }

export interface SdkException extends Exception {
  readonly feature: string
  readonly where: Where
}

export const sdkExceptions: readonly SdkException[] = [
  {
    feature: 'an unknown tool is rejected',
    where: { ours: 'client', peer: 'sdk-1' },
    kind: 'breaks',
    reason: 'it returns an error result, although the specification requires the error -32602',
    pattern: /"isError":true/,
  },
  {
    feature: 'an unknown method is rejected',
    where: { ours: 'server', peer: 'sdk-2', transport: 'http', revision: '2026-07-28' },
    kind: 'lacks',
    reason: 'its client does not read the error in a response with status 404, which its own server sends too',
    pattern: /CLIENT_HTTP_NOT_IMPLEMENTED/,
  },
  {
    feature: 'a deleted session is opened again',
    where: { ours: 'server', transport: 'http', revision: legacy },
    kind: 'breaks',
    reason: 'its client throws on status 404, although the specification requires a new session',
    pattern: /Session not found/,
  },
  {
    feature: 'a cut stream of changes is reopened',
    where: { ours: 'server', peer: 'sdk-2', transport: 'http', revision: '2026-07-28' },
    kind: 'lacks',
    reason: 'its client does not reopen the stream by itself',
    pattern: /over another stream: it did not happen/,
  },
]

export interface ThirdPartyException extends Exception {
  readonly package: string
  readonly over: string
  readonly check: string
}

export const thirdPartyExceptions: readonly ThirdPartyException[] = [
  {
    package: '@ai-sdk/mcp',
    over: 'http, sessions',
    check: 'reports no errors',
    kind: 'breaks',
    reason: 'it reports the empty event at the start of streams of 2025-11-25 as an invalid message, and continues',
    pattern: /Failed to parse message/,
  },
]

export function sdkException(feature: string, pairing: Pairing, all = sdkExceptions): SdkException | undefined {
  return all.find((each) => each.feature === feature && matchesPairing(each.where, pairing))
}

export function thirdPartyException(
  name: string,
  over: string,
  check: string,
  all = thirdPartyExceptions,
): ThirdPartyException | undefined {
  return all.find((each) => each.package === name && each.over === over && each.check === check)
}

function matchesPairing(where: Where, pairing: Pairing): boolean {
  return Object.entries(where).every(([key, expected]) => [expected].flat().includes(pairing[key as keyof Pairing]))
}
