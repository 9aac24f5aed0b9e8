/** Makes results of what prompts give. */

import type { GetPromptResult, InputRequiredResult, PromptMessage } from '@mcpx/protocol'
import { isBlock, text } from '../content.ts'
import { isInputRequired } from '../input-required.ts'
import { ResultError } from './result-error.ts'

export function toPromptResult(
  value: unknown,
  what: string,
  description: string | undefined,
): GetPromptResult | InputRequiredResult {
  if (isInputRequired(value)) return value
  const described = description === undefined ? undefined : { description }
  if (isWhole(value)) return { ...described, ...value, messages: toMessages(value.messages, what) }
  return { ...described, messages: toMessages(value, what) }
}

function isWhole(value: unknown): value is GetPromptResult {
  return typeof value === 'object' && value !== null && Array.isArray((value as Partial<GetPromptResult>).messages)
}

function toMessages(value: unknown, what: string): PromptMessage[] {
  if (!Array.isArray(value)) return [{ role: 'user', content: contentOf(value, what) }]
  return value.map((line) => {
    const role = line?.role
    if (role !== 'user' && role !== 'assistant') throw new ResultError(`${what} gave a message that is of no role`)
    return { ...line, content: contentOf(line.content, what) }
  })
}

function contentOf(value: unknown, what: string): PromptMessage['content'] {
  if (typeof value === 'string') return text(value)
  if (isBlock(value)) return value
  throw new ResultError(`${what} gave ${value === null ? 'null' : typeof value} where words or content belong`)
}
