/** Says in sentences what is wrong with a value. */

import type { SchemaIssue } from '@mcpx/protocol'

/** What a schema finds fault with. `at` is the whole path, where that is known as text already. */
export interface Issue extends SchemaIssue {
  readonly at?: string
}

/** How many faults are told; the rest are counted. */
const MAX_ISSUES = 10
const MAX_LENGTH = 500

/** One line for each fault, such as `arguments.a: expected number, got string`. */
export function describeIssues(issues: readonly Issue[], root: string): string {
  const lines = issues.slice(0, MAX_ISSUES).map((issue) => `${issue.at ?? pathOf(issue, root)}: ${cut(issue.message)}`)
  if (issues.length > MAX_ISSUES) lines.push(`and ${issues.length - MAX_ISSUES} more`)
  return lines.join('\n')
}

function pathOf({ path = [] }: Issue, root: string): string {
  let written = root
  for (const segment of path) {
    const key = typeof segment === 'object' ? segment.key : segment
    if (typeof key === 'number') written += `[${key}]`
    else if (/^[A-Za-z_$][\w$]{0,99}$/.test(String(key))) written += `.${String(key)}`
    else written += `[${JSON.stringify(String(key).slice(0, 100))}]`
  }
  return cut(written)
}

function cut(words: string): string {
  return words.length > MAX_LENGTH ? `${words.slice(0, MAX_LENGTH)}…` : words
}
