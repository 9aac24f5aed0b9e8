/** Which exceptions excuse nothing, or too much: what they name was not tried, came out otherwise, or was not seen. */

import {
  type SdkException,
  type StrangerException,
  sdkException,
  sdkExceptions,
  strangerException,
  strangerExceptions,
} from './exceptions.ts'
import type { ResultsRecord } from './record.ts'
import type { Exception } from './verdict.ts'
import { nameOf } from './ways.ts'

/** One line for each. What is kept is that of a whole run: a run says so where something came out otherwise. */
export function staleExceptions(
  { ways, strangers }: ResultsRecord,
  sdk: readonly SdkException[] = sdkExceptions,
  others: readonly StrangerException[] = strangerExceptions,
): string[] {
  const ofSdk = sdk.flatMap((each) => {
    const { feature } = each
    if (isForAnything(each.seen)) return [`${feature}: ${each.seen} matches anything`]
    const excused = ways.filter((way) => sdkException(feature, way, sdk) === each)
    if (excused.length === 0) return [`${feature}: no way is excused by this`]
    return excused.flatMap((way) => complaint(`${nameOf(way)}: ${feature}`, way, feature, each))
  })
  const ofStrangers = others.flatMap((each) => {
    const { package: name, over, check } = each
    const title = `${name}, ${over}: ${check}`
    if (isForAnything(each.seen)) return [`${title}: ${each.seen} matches anything`]
    if (strangerException(name, over, check, others) !== each) return [`${title}: another one excuses it`]
    const stranger = strangers.find((one) => one.package === name && one.over === over)
    return complaint(title, stranger, check, each)
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

type Kept = Pick<ResultsRecord['ways'][number], 'verdicts' | 'notes'>

function complaint(title: string, kept: Kept | undefined, what: string, { kind, seen }: Exception): string[] {
  const status = kept?.verdicts[what]
  if (status === undefined || status === 'absent') return [`${title}: it was not tried`]
  if (status !== kind) return [`${title}: it is "${status}"`]
  const evidence = kept?.notes.find((note) => note.what === what)?.evidence
  return evidence !== undefined && seen.test(evidence) ? [] : [`${title}: ${seen} is not what was seen: ${evidence}`]
}
