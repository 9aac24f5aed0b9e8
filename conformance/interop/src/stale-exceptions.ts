/** Which exceptions excuse nothing: what they name was not tried, or came out otherwise. */

import {
  type SdkException,
  type StrangerException,
  sdkException,
  sdkExceptions,
  strangerException,
  strangerExceptions,
} from './exceptions.ts'
import type { ResultsRecord } from './record.ts'
import { nameOf } from './ways.ts'

/** One line for each. What is kept is that of a whole run: a run says so where something came out otherwise. */
export function staleExceptions(
  { ways, strangers }: ResultsRecord,
  sdk: readonly SdkException[] = sdkExceptions,
  others: readonly StrangerException[] = strangerExceptions,
): string[] {
  const ofSdk = sdk.flatMap((each) => {
    const { feature, kind } = each
    const excused = ways.filter((way) => sdkException(feature, way, sdk) === each)
    if (excused.length === 0) return [`${feature}: no way is excused by this`]
    return excused.flatMap((way) => complaint(`${nameOf(way)}: ${feature}`, way.verdicts[feature], kind))
  })
  const ofStrangers = others.flatMap((each) => {
    const { package: name, over, check, kind } = each
    const title = `${name}, ${over}: ${check}`
    if (strangerException(name, over, check, others) !== each) return [`${title}: another one excuses it`]
    const stranger = strangers.find((one) => one.package === name && one.over === over)
    return complaint(title, stranger?.verdicts[check], kind)
  })
  return [...ofSdk, ...ofStrangers]
}

function complaint(title: string, status: string | undefined, kind: string): string[] {
  if (status === kind) return []
  return [`${title}: ${status === undefined || status === 'absent' ? 'it was not tried' : `it is "${status}"`}`]
}
