/** Skills for the tests of this package. */

import { createHash } from 'node:crypto'
import type { Skill } from './skill.ts'

export const PDF_SKILL = `---
name: pdf-processing
description: Extract, fill, and assemble PDF documents
---

Read references/FORMS.md first.
`

export const REFUNDS_SKILL = `---
name: refunds
description: "Refund an order: when, and how much"
license: MIT
metadata:
  owner: billing
---
Ask for the receipt.
`

/** Two skills. The first one has a directory, and a file that is not text. */
export const BUNDLE = {
  'acme/billing/refunds/SKILL.md': REFUNDS_SKILL,
  'pdf-processing/SKILL.md': PDF_SKILL,
  'pdf-processing/references/FORMS.md': 'Forms are fun.\r\n',
  'pdf-processing/assets/my logo.png': Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0xff),
} as const

export function sha256(content: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

/** Returns an entry that is true for the files, the first of which is the `SKILL.md`. */
export function entryOf(files: Readonly<Record<string, string>>, frontmatter: Skill['frontmatter']): Skill {
  const resources = Object.entries(files).map(([path, content]) => ({
    uri: `skill://${path}`,
    digest: sha256(content),
    size: Buffer.byteLength(content),
  }))
  return { uri: resources[0]?.uri ?? '', frontmatter, resources }
}
