/** Shows a running call: its duration, its progress, and a button to cancel it. Shows the error of a failed call. */

import type { ComponentChildren, RefObject, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { plainText } from '../../output/plain-text.ts'
import { Button, ErrorCard, formatDuration } from './elements.tsx'
import type { Run } from './hooks.ts'

/** The state of a call. `children` shows its result. */
export function RunPanel<Result>(props: {
  readonly run: Run<Result>
  /** Whether the page scrolls to the panel when its content changes. Default: true. */
  readonly scrolls?: boolean
  readonly children: (result: Result, duration: number) => ComponentChildren
}): VNode | null {
  const { run, scrolls = true, children } = props
  const { state } = run
  const box = useRef<HTMLElement>(null)
  const shown = useRef(state.status)
  useEffect(() => {
    // The panel is below the form.
    if (scrolls && shown.current !== state.status) box.current?.scrollIntoView({ block: 'nearest' })
    shown.current = state.status
  }, [state.status])
  switch (state.status) {
    case 'idle':
      return null
    case 'running':
      return <Running box={box} start={state.start} progress={state.progress} onCancel={run.cancel} />
    case 'cancelled':
      return <p class="note">Cancelled after {formatDuration(state.duration)}</p>
    case 'failed':
      return (
        <section class="result" aria-label="Result" ref={box}>
          <ErrorCard error={state.error} />
          <p class="note">after {formatDuration(state.duration)}</p>
        </section>
      )
    case 'done':
      return (
        <section class="result" aria-label="Result" ref={box}>
          {children(state.result, state.duration)}
        </section>
      )
  }
}

function Running(props: {
  readonly box: RefObject<HTMLElement | null>
  readonly start: number
  readonly progress:
    | {
        readonly progress?: number | undefined
        readonly total?: number | undefined
        readonly message?: string | undefined
      }
    | undefined
  readonly onCancel: () => void
}): VNode {
  const { box, start, progress, onCancel } = props
  const [now, setNow] = useState(() => performance.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 200)
    return () => clearInterval(timer)
  }, [])
  const { progress: value, total, message } = progress ?? {}
  return (
    <section class="running" aria-label="The call runs" ref={box}>
      <div class="running-head">
        <span class="spinner" aria-hidden="true" />
        <span role="status">{message ? plainText(message) : 'Waiting for the response'}</span>
        <span class="time">{(Math.max(0, now - start) / 1_000).toFixed(1)} s</span>
        <Button onClick={onCancel} look="danger">
          Cancel
        </Button>
      </div>
      {value !== undefined && (
        <div class="progress-row">
          <progress aria-label="Progress" value={total === undefined ? undefined : value} max={total} />
          <span class="time">{total === undefined ? value : `${value} / ${total}`}</span>
        </div>
      )}
    </section>
  )
}
