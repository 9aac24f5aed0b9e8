/** Finds exceptions that excuse nothing or too much: their check was not made, had another outcome, or showed other evidence. */

import {
  type SdkException,
  type StrangerException,
  sdkException,
  sdkExceptions,
  strangerException,
  strangerExceptions,
} from './exceptions.ts'
import type { Results } from './results.ts'
import type { Cell, Exception } from './verdict.ts'
import { nameOf } from './ways.ts'

/** Returns a line for each exception that the results of a whole run do not need. */
export function staleExceptions(
  { ways, strangers }: Results,
  sdk: readonly SdkException[] = sdkExceptions,
  others: readonly StrangerException[] = strangerExceptions,
): string[] {
  const ofSdk = sdk.flatMap((each) => {
    const { feature } = each
    if (isForAnything(each.seen)) return [`${feature}: ${each.seen} matches anything`]
    const excused = ways.filter((way) => sdkException(feature, way, sdk) === each)
    if (excused.length === 0) return [`${feature}: no way is excused by this`]
    return excused.flatMap((way) => complaint(`${nameOf(way)}: ${feature}`, way.cells, feature, each))
  })
  const ofStrangers = others.flatMap((each) => {
    const { package: name, over, check } = each
    const title = `${name}, ${over}: ${check}`
    if (isForAnything(each.seen)) return [`${title}: ${each.seen} matches anything`]
    if (strangerException(name, over, check, others) !== each) return [`${title}: another one excuses it`]
    const stranger = strangers.find((one) => one.package === name && one.over === over)
    return complaint(title, stranger?.cells ?? [], check, each)
  })
  return [...ofSdk, ...ofStrangers]
}

/** What is seen where something else went wrong: a pattern that knows what it excuses matches none of it. */
const UNRELATED = [
  'it took longer than 20000 ms',
  'fetch failed',
  'TypeError: undefined is not a function',
  'Expected values to be strictly equal: 1 !== 2',
]

function isForAnything(seen: RegExp): boolean {
  return UNRELATED.some((said) => seen.test(said))
}

function complaint(title: string, cells: readonly Cell[], check: string, { kind, seen }: Exception): string[] {
  const { status, evidence = '' } = cells.find(({ what }) => what === check) ?? { status: 'absent' }
  if (status === 'absent') return [`${title}: it was not tried`]
  if (status !== kind) return [`${title}: it is "${status}"`]
  return seen.test(evidence) ? [] : [`${title}: ${seen} is not what was seen: ${evidence}`]
}
