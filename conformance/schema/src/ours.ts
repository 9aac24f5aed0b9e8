/** Our verdict on every official definition. */
import type { Revision } from '@mcpx/protocol'
import type { Definitions } from './official.ts'
import { messageNames, verdictOf } from './our-messages.ts'
import { exceptionalShapes } from './our-shapes.ts'
import type { Verdict } from './verdict.ts'

/** All that one side may send: each is what the official definition lists. */
const unions = new Set([
  'ClientNotification',
  'ClientRequest',
  'ClientResult',
  'ServerNotification',
  'ServerRequest',
  'ServerResult',
])

/** The verdict on a definition of a revision; nothing where there is none. */
export function ourVerdict(name: string, revision: Revision, definitions: Definitions): Verdict | undefined {
  if (!unions.has(name)) return verdictOf(name, revision)
  const verdicts = membersOf(name, definitions).map((member) => verdictOf(member, revision))
  if (verdicts.some((verdict) => verdict === undefined)) return undefined
  return (value) => verdicts.some((verdict) => verdict?.(value, revision))
}

function membersOf(name: string, definitions: Definitions): string[] {
  const { anyOf, $ref, properties } = definitions[name] ?? {}
  // The one notification that a modern client may send is written out instead of being referred to.
  if (properties?.method?.const === 'notifications/cancelled') return ['CancelledNotification']
  return (anyOf ?? [{ $ref }]).map((each) => each.$ref?.split('/').at(-1) ?? '')
}

/** Every name that our tables mention. */
export const ourNames: readonly string[] = [...exceptionalShapes, ...messageNames, ...unions]
