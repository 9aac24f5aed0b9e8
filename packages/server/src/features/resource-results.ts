/** Makes results of what resources give when they are read. */

import {
  type BlobResourceContents,
  type InputRequiredResult,
  type ReadResourceResult,
  resourceNotFound,
  type TextResourceContents,
} from '@mcpx/protocol'
import { toContents } from '../content.ts'
import { isInputRequired } from '../input-required.ts'
import type { CacheHints } from './listing.ts'

type Contents = TextResourceContents | BlobResourceContents

export interface ReadFacts {
  readonly uri: string
  readonly mimeType: string | undefined
  readonly hints: CacheHints
}

export function toReadResult(value: unknown, facts: ReadFacts): ReadResourceResult | InputRequiredResult {
  if (value === undefined || value === null) throw resourceNotFound(facts.uri, 'modern')
  if (isInputRequired(value)) return value
  if (isWhole(value)) return { ...facts.hints, ...value }
  return { contents: contentsOf(value, facts), ...facts.hints }
}

function contentsOf(value: unknown, { uri, mimeType }: ReadFacts): Contents[] {
  if (isContents(value)) return [value]
  if (Array.isArray(value) && value.length > 0 && value.every(isContents)) return value
  return [toContents(uri, value, mimeType)]
}

function isWhole(value: unknown): value is ReadResourceResult {
  const { contents } = value as Partial<ReadResourceResult>
  return Array.isArray(contents) && contents.every(isContents)
}

function isContents(value: unknown): value is Contents {
  if (typeof value !== 'object' || value === null) return false
  const { uri, text, blob } = value as Record<string, unknown>
  return typeof uri === 'string' && (typeof text === 'string') !== (typeof blob === 'string')
}
