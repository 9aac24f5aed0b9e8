/** Shows a JSON value as a tree whose branches can be opened. */

import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { plainJson, plainText } from '../../output/plain-text.ts'

/** How many members are shown at first, and with each click on "more". */
const STEP = 100
/** How many characters of a string are shown at first. */
const MAX_STRING = 400
/** In the first three levels, objects with fewer members than this are open at first. */
const MAX_OPEN = 30

interface TreeProps {
  readonly value: unknown
  /** The name of the value: a key, an index, or a word. */
  readonly label?: string | number | undefined
  readonly depth?: number
}

/** A value with its members. */
export function JsonTree({ value, label, depth = 0 }: TreeProps): VNode {
  const isBranch = typeof value === 'object' && value !== null && Object.keys(value).length > 0
  const content = isBranch ? <Branch value={value} label={label} depth={depth} /> : <Leaf value={value} label={label} />
  return depth === 0 ? <div class="json">{content}</div> : content
}

function Branch({ value, label, depth = 0 }: TreeProps & { readonly value: object }): VNode {
  const entries = Object.entries(value)
  const isArray = Array.isArray(value)
  const [isOpen, setIsOpen] = useState(depth < 3 && entries.length < MAX_OPEN)
  const [shown, setShown] = useState(STEP)
  const count = `${entries.length} ${isArray ? (entries.length === 1 ? 'item' : 'items') : entries.length === 1 ? 'member' : 'members'}`
  return (
    <div class="json-branch">
      <button type="button" class="json-toggle" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <span class="caret" aria-hidden="true" />
        {label !== undefined && <Key label={label} />}
        <span class="json-summary">
          {isArray ? '[' : '{'} {count} {isArray ? ']' : '}'}
        </span>
      </button>
      {isOpen && (
        <div class="json-members">
          {entries.slice(0, shown).map(([key, member]) => (
            <JsonTree key={key} label={isArray ? Number(key) : key} value={member} depth={depth + 1} />
          ))}
          {entries.length > shown && (
            <button type="button" class="link" onClick={() => setShown(shown + STEP)}>
              Show {Math.min(STEP, entries.length - shown)} more
            </button>
          )}
        </div>
      )}
    </div>
  )
}

function Leaf({ value, label }: TreeProps): VNode {
  const [isWhole, setIsWhole] = useState(false)
  const kind = value === null ? 'null' : typeof value
  const text = value === undefined ? 'undefined' : plainJson(value, 0)
  const isLong = text.length > MAX_STRING && !isWhole
  return (
    <div class="json-leaf">
      {label !== undefined && <Key label={label} />}
      <span class={`json-${kind}`}>{isLong ? `${text.slice(0, MAX_STRING)}…` : text}</span>
      {isLong && (
        <button type="button" class="link" onClick={() => setIsWhole(true)}>
          Show all {text.length.toLocaleString('en')} characters
        </button>
      )}
    </div>
  )
}

function Key({ label }: { readonly label: string | number }): VNode {
  return (
    <span class="json-key">
      {typeof label === 'string' ? plainText(label) : label}
      <span class="json-colon">:</span>
    </span>
  )
}
