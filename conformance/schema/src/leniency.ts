/** The values that we accept although the official schemas reject them, with reasons. Each entry edits the official schema
 * so that both agree on every value. A test fails if an entry is not needed.
 */
import { changeEverySchema } from './edits.ts'
import { LEGACY, type Leniency, MODERN } from './leniency-entry.ts'
import { cancellationLeniencies, envelopeLeniencies } from './leniency-messages.ts'
import { newerShapeLeniencies } from './leniency-newer.ts'
import { resultLeniencies } from './leniency-results.ts'

const formats: Leniency = {
  title: 'formats (uri, uri-template, byte) are not checked',
  reason:
    'Peers send invalid URIs, and checking Base64 costs as much as decoding it. The code that uses a value checks it.',
  revisions: [...LEGACY, ...MODERN],
  seenIn: ['Resource', 'ResourceTemplate', 'ImageContent', 'Root'],
  edit: changeEverySchema((schema) => {
    if (typeof schema.format === 'string' && schema.type === 'string') delete schema.format
  }),
}

/** The entries in the order of their application: `formats` is last, because it also edits the definitions that others add. */
export const leniencies: readonly Leniency[] = [
  ...resultLeniencies,
  ...cancellationLeniencies,
  ...envelopeLeniencies,
  ...newerShapeLeniencies,
  formats,
]
