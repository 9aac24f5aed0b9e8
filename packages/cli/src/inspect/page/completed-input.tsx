/** A text input whose values the server completes. */

import type { VNode } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { plainText } from '../../output/plain-text.ts'
import type { Methods } from '../api.ts'
import { usePageState } from './hooks.ts'
import { call } from './store.ts'

/** How long the user must pause before the server is asked, in ms. */
const PAUSE = 150

/** The input for an argument of a prompt, or for a variable of a URI template. */
export function CompletedInput(props: {
  readonly reference: Methods['complete']['params']['ref']
  readonly name: string
  readonly description?: string | undefined
  readonly isRequired: boolean
  readonly problem?: string | undefined
  readonly values: Readonly<Record<string, string>>
  readonly onChange: (value: string) => void
}): VNode {
  const { reference, name, description, isRequired, problem, values, onChange } = props
  const { connection } = usePageState()
  const [options, setOptions] = useState<readonly string[]>([])
  const [isUsed, setIsUsed] = useState(false)
  const id = useId()
  const value = values[name] ?? ''
  const canComplete = connection.status === 'connected' && connection.server.capabilities.completions !== undefined

  useEffect(() => {
    if (!canComplete || !isUsed) return
    const controller = new AbortController()
    const timer = setTimeout(() => {
      const { [name]: _, ...others } = values
      const params = { ref: reference, argument: { name, value }, context: { arguments: others } }
      // If the server cannot complete, the user types the whole value.
      call('complete', params, { signal: controller.signal }).then(
        ({ completion }) => setOptions(completion.values.slice(0, 100)),
        () => setOptions([]),
      )
    }, PAUSE)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [value, isUsed, canComplete])

  return (
    <div class="field">
      <label for={id}>
        <span class="field-name">{plainText(name)}</span>
        {canComplete && <span class="field-type">with completion</span>}
        {isRequired && <span class="field-required">required</span>}
      </label>
      <input
        id={id}
        type="text"
        list={`${id}-options`}
        autocomplete="off"
        spellcheck={false}
        value={value}
        aria-describedby={`${id}-notes`}
        aria-invalid={problem !== undefined}
        onFocus={() => setIsUsed(true)}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <datalist id={`${id}-options`}>
        {options.map((option) => (
          <option key={option} value={option} />
        ))}
      </datalist>
      <div id={`${id}-notes`}>
        {description && <p class="field-description">{plainText(description)}</p>}
        {problem && <p class="field-problem">{problem}</p>}
      </div>
    </div>
  )
}
