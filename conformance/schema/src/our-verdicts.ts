/** Our verdicts for all official definitions. */
import type { Revision } from '@mcpx/protocol'
import type { Definitions } from './official.ts'
import { messageNames, verdictOf } from './our-messages.ts'
import { exceptionalShapes } from './our-shapes.ts'
import type { Verdict } from './verdict.ts'

/** The unions of all messages of one side; their members are read from the official definition. */
const unions = new Set([
  'ClientNotification',
  'ClientRequest',
  'ClientResult',
  'ServerNotification',
  'ServerRequest',
  'ServerResult',
])

/** Returns the verdict for a definition of a revision; undefined if there is none. */
export function ourVerdict(name: string, revision: Revision, definitions: Definitions): Verdict | undefined {
  if (!unions.has(name)) return verdictOf(name, revision)
  const verdicts = membersOf(name, definitions).map((member) => verdictOf(member, revision))
  if (verdicts.some((verdict) => verdict === undefined)) return undefined
  return (value) => verdicts.some((verdict) => verdict?.(value, revision))
}

function membersOf(name: string, definitions: Definitions): string[] {
  const { anyOf, $ref, properties } = definitions[name] ?? {}
  // The only notification of modern clients is inlined instead of referenced.
  if (properties?.method?.const === 'notifications/cancelled') return ['CancelledNotification']
  return (anyOf ?? [{ $ref }]).map((each) => each.$ref?.split('/').at(-1) ?? '')
}

/** All names in our tables. */
export const ourNames: readonly string[] = [...exceptionalShapes, ...messageNames, ...unions]
