/**
 * Where we take what the official schemas refuse, and why. Each entry makes the official schema say what we do, so that
 * the two must agree on every value; and each must be needed for some value, or the test fails.
 */
import { everywhere } from './edits.ts'
import { LEGACY, type Leniency, MODERN } from './leniency-entry.ts'
import { aboutCancellations, aboutFrames } from './leniency-messages.ts'
import { aboutNewerShapes } from './leniency-newer.ts'
import { aboutResults } from './leniency-results.ts'

const formats: Leniency = {
  what: 'formats (uri, uri-template, byte) are not checked',
  why: 'Peers send URIs that are none, and checking base64 costs as much as decoding it: who uses them checks them.',
  revisions: [...LEGACY, ...MODERN],
  seenIn: ['Resource', 'ResourceTemplate', 'ImageContent', 'Root'],
  edit: everywhere((schema) => {
    if (typeof schema.format === 'string' && schema.type === 'string') delete schema.format
  }),
}

/** In the order in which they are applied: `formats` also has to reach what the others bring. */
export const leniencies: readonly Leniency[] = [
  ...aboutResults,
  ...aboutCancellations,
  ...aboutFrames,
  ...aboutNewerShapes,
  formats,
]
