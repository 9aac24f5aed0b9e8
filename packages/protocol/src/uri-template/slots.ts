/** Cuts a template into what a match walks over: literals, and slots that values fill. */

import type { Expression, Piece, Variable } from './syntax.ts'
import type { Fail } from './template-error.ts'

/** A place for one unnamed variable, or for all the named variables of an expression. */
export interface Slot {
  /** The character that the slot begins with; a slot with one may be absent. */
  readonly lead: string
  /** The ASCII codes that the text of the slot cannot hold. */
  readonly stops: Uint8Array
  /** Whether the text may be empty. */
  readonly empty: boolean
  readonly expression: Expression
  readonly variables: Variable[]
}

export type Part = string | Slot

export function cutIntoParts(pieces: readonly Piece[], fail: Fail): readonly Part[] {
  const parts: Part[] = []
  let ends = '/?#'
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      parts.push(piece)
      if (piece.includes('?')) ends = '/?#&'
      continue
    }
    for (const slot of slotsOf(piece, ends)) {
      const last = parts.at(-1)
      if (typeof last !== 'object') parts.push(slot)
      else if (piece.named && last.expression.named && last.expression.separator === piece.separator)
        last.variables.push(...slot.variables)
      else if (endsAt(last, slot.lead)) parts.push(slot)
      else {
        const names = `"${last.variables.at(-1)?.name}" and "${slot.variables[0]?.name}"`
        throw fail(piece.position, `${names} cannot be told apart when matching; put a literal between them`)
      }
    }
  }
  return parts
}

function slotsOf(expression: Expression, ends: string): Slot[] {
  const { first, separator, named, variables } = expression
  const groups = named ? [variables] : variables.map((variable) => [variable])
  return groups.map((group, index) => ({
    lead: index ? separator : first,
    stops: codesOf(stopsOf(expression, group[0] as Variable, ends)),
    empty: variables.length > 1 || first !== '',
    expression,
    variables: [...group],
  }))
}

function stopsOf({ first, separator, named, reserved, variables }: Expression, { explode }: Variable, ends: string) {
  if (named) return first === ';' ? '/?#' : '#'
  const own = reserved ? '' : ends
  if (explode) return own.replace(separator, '')
  return variables.length > 1 || separator !== ',' ? own + separator : own
}

function codesOf(characters: string): Uint8Array {
  const codes = new Uint8Array(128)
  for (const character of characters) codes[character.charCodeAt(0)] = 1
  return codes
}

/** Lets a slot end where the lead of the next one stands, unless its value may well hold that character. */
function endsAt(slot: Slot, lead: string): boolean {
  if (!lead) return false
  if (slot.stops[lead.charCodeAt(0)]) return true
  const { reserved, separator } = slot.expression
  if (lead === separator || (reserved && '/.'.includes(lead))) return false
  slot.stops[lead.charCodeAt(0)] = 1
  return true
}
