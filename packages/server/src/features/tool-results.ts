/** Makes results of what tools return. */

import type { Awaitable, CallToolResult, InputRequiredResult } from '@mcpx/protocol'
import { isBlock, text, toJson } from '../content.ts'
import { isInputRequired } from '../input-required.ts'
import { whenDone } from '../settle.ts'
import { describeIssues } from './issues.ts'
import type { Checked } from './raw-schema.ts'
import { ResultError } from './result-error.ts'

export type ToolResult = CallToolResult | InputRequiredResult

/** Turns what one tool returns into its result; throws, or rejects with, a `ResultError` when it cannot be one. */
export type ToResult = (value: unknown) => Awaitable<ToolResult>

function isWhole(value: unknown): value is CallToolResult {
  if (typeof value !== 'object' || value === null) return false
  const { content } = value as Partial<CallToolResult>
  return Array.isArray(content) && content.every(isBlock)
}

/** For a tool without `output`. */
export function toPlainResult(value: unknown): ToolResult {
  if (typeof value === 'string') return { content: [text(value)] }
  if (value === undefined || value === null) return { content: [] }
  if (isWhole(value) || isInputRequired(value)) return value
  if (isBlock(value)) return { content: [value] }
  if (Array.isArray(value) && value.some(isBlock) && value.every((item) => typeof item === 'string' || isBlock(item))) {
    return { content: value.map((item) => (typeof item === 'string' ? text(item) : item)) }
  }
  return { content: [text(toJson(value))] }
}

/** For a tool with `output`. */
export function createStructuring(what: string, check: (value: unknown) => Awaitable<Checked>): ToResult {
  const accept = ({ issues, value }: Checked): unknown => {
    if (issues !== undefined) {
      throw new ResultError(`${what} returned what its output does not allow. ${describeIssues(issues, 'result')}`)
    }
    if (value === undefined) throw new ResultError(`${what} returned nothing, yet it has an output`)
    return value
  }
  return (value) => {
    if (isInputRequired(value)) return value
    // A value that only happens to have a member called content is checked like any other.
    if (isWhole(value) && value.isError === true) return value
    if (isWhole(value) && value.structuredContent !== undefined) {
      return whenDone(check(value.structuredContent), (checked) => ({ ...value, structuredContent: accept(checked) }))
    }
    return whenDone(check(value), (checked) => {
      const structuredContent = accept(checked)
      return { content: [text(toJson(structuredContent))], structuredContent }
    })
  }
}
