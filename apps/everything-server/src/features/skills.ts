/** Skills: instructions for models, with the files that the instructions refer to. */
import { type SkillBundle, skills } from '@mcpx/skills'

const PDF_PROCESSING = `---
name: pdf-processing
description: Extract text from PDF documents, fill in their forms, and merge them. Use it when a task mentions a PDF.
license: MIT
metadata:
  version: "1.0"
---

Read references/FORMS.md before you fill in a form.
`

const REFUNDS = `---
name: refunds
description: Refund an order. Use it when a customer asks for money back.
---

Ask for the number of the order first.
`

/** `bundleSkills` of `@mcpx/skills/node` builds such an object from a folder. */
const bundle: SkillBundle = {
  'pdf-processing/SKILL.md': PDF_PROCESSING,
  'pdf-processing/references/FORMS.md': 'List the fields of the form, and ask for those that are not known.\n',
  'shop/billing/refunds/SKILL.md': REFUNDS,
  'shop/billing/audit/SKILL.md': '---\nname: audit\ndescription: Find refunds that nobody asked for.\n---\n',
}

export const everySkill = skills(bundle, {
  cache: { ttlMs: 60_000, cacheScope: 'public' },
  pageSize: 50,
  visible: ({ frontmatter }, auth) => frontmatter.name !== 'audit' || auth?.scopes.includes('admin'),
  onWarning: ({ message }) => console.error(message),
})
