/** Small elements that all parts of the page use. */

import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { plainText } from '../../output/plain-text.ts'
import type { ExplainedError } from '../api.ts'
import { JsonTree } from './json-tree.tsx'

/** A button. `primary` marks the main action of the panel. */
export function Button(props: {
  readonly onClick?: () => void
  readonly children: ComponentChildren
  readonly look?: 'primary' | 'plain' | 'danger' | 'quiet'
  readonly submit?: boolean
  readonly disabled?: boolean
  readonly label?: string
  readonly pressed?: boolean
  readonly expanded?: boolean
}): VNode {
  const { onClick, children, look = 'plain', submit = false, disabled = false, label, pressed, expanded } = props
  return (
    <button
      type={submit ? 'submit' : 'button'}
      class={`button ${look}`}
      onClick={onClick}
      disabled={disabled}
      aria-label={label}
      aria-pressed={pressed}
      aria-expanded={expanded}
    >
      {children}
    </button>
  )
}

/** A button that copies text, and confirms it. */
export function CopyButton({ text, children }: { readonly text: () => string; readonly children: string }): VNode {
  const [outcome, setOutcome] = useState<'copied' | 'failed'>()
  const timer = useRef<number>(0)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = () => {
    void navigator.clipboard.writeText(text()).then(
      () => setOutcome('copied'),
      () => setOutcome('failed'),
    )
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setOutcome(undefined), 2_000)
  }
  return (
    <Button onClick={copy} look="quiet">
      <span aria-live="polite">
        {outcome === 'copied' ? 'Copied' : outcome === 'failed' ? 'Not allowed' : children}
      </span>
    </Button>
  )
}

/** A group of buttons. One of them is pressed. */
export function Segments<Value extends string>(props: {
  readonly label: string
  readonly options: readonly (readonly [Value, string])[]
  readonly value: Value
  readonly onChange: (value: Value) => void
}): VNode {
  const { label, options, value, onChange } = props
  return (
    <fieldset class="segments">
      <legend class="visually-hidden">{label}</legend>
      {options.map(([each, text]) => (
        <Button key={each} look="quiet" pressed={each === value} onClick={() => onChange(each)}>
          {text}
        </Button>
      ))}
    </fieldset>
  )
}

/** A label with the name of a state. */
export function Badge({
  tone,
  children,
}: {
  readonly tone?: string | undefined
  readonly children: ComponentChildren
}): VNode {
  return <span class={`badge ${tone ?? ''}`}>{children}</span>
}

/** A message in the middle of an empty area. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }): VNode {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <p>{children}</p>}
    </div>
  )
}

/** A line that says that something is being loaded. */
export function Loading({ children }: { readonly children: ComponentChildren }): VNode {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {children}
    </p>
  )
}

/** An error with its meaning and a remedy. */
export function ErrorCard({
  error,
  children,
}: {
  readonly error: ExplainedError
  readonly children?: ComponentChildren
}): VNode {
  const { title, code, message, meaning, remedy, data } = error
  return (
    <div class="error-card" role="alert">
      <p class="error-title">
        {title}
        {code !== undefined && <code>{String(code)}</code>}
      </p>
      <p class="error-message">{plainText(message)}</p>
      {meaning && (
        <p>
          <b>Meaning:</b> {meaning}
        </p>
      )}
      {remedy && (
        <p>
          <b>What to do:</b> {plainText(remedy)}
        </p>
      )}
      {data !== undefined && <JsonTree value={data} label="data" />}
      {children && <div class="actions">{children}</div>}
    </div>
  )
}

/** Long text. At first, only its beginning is shown. */
export function LongText({ text, limit = 20_000 }: { readonly text: string; readonly limit?: number }): VNode {
  const [shown, setShown] = useState(limit)
  return (
    <>
      <pre class="text" tabIndex={0}>
        {plainText(text.slice(0, shown))}
      </pre>
      {text.length > shown && (
        <p class="note">
          {shown.toLocaleString('en')} of {text.length.toLocaleString('en')} characters{' '}
          <Button look="quiet" onClick={() => setShown(shown + 10 * limit)}>
            Show more
          </Button>
        </p>
      )}
    </>
  )
}

/** Returns a duration for people. */
export function formatDuration(duration: number): string {
  if (duration < 10) return `${duration.toFixed(1)} ms`
  return duration < 10_000 ? `${Math.round(duration)} ms` : `${(duration / 1_000).toFixed(1)} s`
}

/** Returns a number of characters or bytes for people. */
export function formatSize(size: number): string {
  if (size < 1_000) return `${size} B`
  return size < 1_000_000 ? `${(size / 1_000).toFixed(1)} kB` : `${(size / 1_000_000).toFixed(1)} MB`
}
