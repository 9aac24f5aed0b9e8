/** Makes results of what tools return. */

import type { Awaitable, CallToolResult, InputRequiredResult } from '@mcpx/protocol'
import { isBlock, text, toJson } from '../content.ts'
import { isInputRequired } from '../input-required.ts'
import { whenDone } from '../settle.ts'
import { isAsJson } from './as-json.ts'
import type { Checked } from './compiled-schema.ts'
import { describeIssues } from './issues.ts'
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

type Check = (value: unknown) => Awaitable<Checked>

/**
 * For a tool with `output`. What is sent is what fits it: so what JSON would change is checked as JSON has it.
 *
 * @param checkJson takes what is sent, where `check` takes what is not JSON yet, and makes of it what is. Default: `check`
 * gives what it is given.
 */
export function createStructuring(what: string, check: Check, checkJson?: Check): ToResult {
  const accept = ({ issues, value }: Checked, as = ''): unknown => {
    if (issues !== undefined) {
      throw new ResultError(`${what} returned what its output does not allow${as}. ${describeIssues(issues, 'result')}`)
    }
    if (value === undefined) throw new ResultError(`${what} returned nothing, yet it has an output`)
    return value
  }
  const sending = (value: unknown, make: Make): Awaitable<ToolResult> => {
    const isWritten = value === undefined || isAsJson(value)
    if (isWritten && checkJson !== undefined) return make(value)
    const json = isWritten ? undefined : toJson(value)
    const checked = (checkJson ?? check)(json === undefined ? value : JSON.parse(json))
    return whenDone(checked, (settled) => make(accept(settled, json && ' as JSON'), json))
  }
  const structure = (value: unknown, make: Make): Awaitable<ToolResult> =>
    checkJson === undefined ? sending(value, make) : whenDone(check(value), (checked) => sending(accept(checked), make))
  return (value) => {
    if (isInputRequired(value)) return value
    // A value that only happens to have a member called content is checked like any other.
    if (isWhole(value) && value.isError === true) return value
    if (isWhole(value) && value.structuredContent !== undefined)
      return structure(value.structuredContent, (structuredContent) => ({ ...value, structuredContent }))
    return structure(value, makeResult)
  }
}

/** @param json how the value is written, where that is known */
type Make = (structuredContent: unknown, json?: string) => ToolResult

const makeResult: Make = (structuredContent, json = toJson(structuredContent)) => ({
  content: [text(json)],
  structuredContent,
})
