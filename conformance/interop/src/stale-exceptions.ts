/** Finds stale exceptions: their check was not run, had another outcome or other evidence, or their pattern matches anything. */

import {
  type SdkException,
  sdkException,
  sdkExceptions,
  type ThirdPartyException,
  thirdPartyException,
  thirdPartyExceptions,
} from './exceptions.ts'
import type { CheckResult, Exception } from './outcome.ts'
import { nameOf } from './pairings.ts'
import type { Results } from './results.ts'

/** Returns a line for each stale exception of a complete run. */
export function staleExceptions(
  { pairings, thirdParties }: Results,
  sdk: readonly SdkException[] = sdkExceptions,
  others: readonly ThirdPartyException[] = thirdPartyExceptions,
): string[] {
  const ofSdk = sdk.flatMap((each) => {
    const { feature } = each
    if (matchesAnything(each.pattern)) return [`${feature}: ${each.pattern} matches anything`]
    const affected = pairings.filter((pairing) => sdkException(feature, pairing, sdk) === each)
    if (affected.length === 0) return [`${feature}: no pairing needs this exception`]
    return affected.flatMap((pairing) => problemsOf(`${nameOf(pairing)}: ${feature}`, pairing.checks, feature, each))
  })
  const ofThirdParties = others.flatMap((each) => {
    const { package: name, over, check } = each
    const title = `${name}, ${over}: ${check}`
    if (matchesAnything(each.pattern)) return [`${title}: ${each.pattern} matches anything`]
    if (thirdPartyException(name, over, check, others) !== each) return [`${title}: another exception covers it`]
    const thirdParty = thirdParties.find((one) => one.package === name && one.over === over)
    return problemsOf(title, thirdParty?.checks ?? [], check, each)
  })
  return [...ofSdk, ...ofThirdParties]
}

/** Messages of unrelated failures, which a precise pattern does not match. */
const UNRELATED = [
  'it took longer than 20000 ms',
  'fetch failed',
  'TypeError: undefined is not a function',
  'Expected values to be strictly equal: 1 !== 2',
]

function matchesAnything(pattern: RegExp): boolean {
  return UNRELATED.some((message) => pattern.test(message))
}

function problemsOf(
  title: string,
  checks: readonly CheckResult[],
  check: string,
  { kind, pattern }: Exception,
): string[] {
  const { status, evidence = '' } = checks.find(({ name }) => name === check) ?? { status: 'absent' }
  if (status === 'absent') return [`${title}: it was not run`]
  if (status !== kind) return [`${title}: it is "${status}"`]
  return pattern.test(evidence) ? [] : [`${title}: ${pattern} does not match the evidence: ${evidence}`]
}
