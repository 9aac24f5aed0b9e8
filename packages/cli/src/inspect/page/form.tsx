/** A form for the fields of a JSON Schema, with the problems of the values. */

import type { VNode } from 'preact'
import { useId, useState } from 'preact/hooks'
import { plainText } from '../../output/plain-text.ts'
import { Button } from './elements.tsx'
import { type Choice, type Field, initialValue, memberPath, type NamedField, type Problem } from './form-model.ts'

/** Moves the focus to the first field with a problem, after it was rendered. */
export function focusProblem(form: HTMLElement): void {
  setTimeout(() => form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), 50)
}

interface FieldProps {
  readonly field: Field
  readonly value: unknown
  readonly onChange: (value: unknown) => void
  readonly path: string
  /** The name that people see. */
  readonly name: string
  readonly isRequired: boolean
  /** The problems of all values. */
  readonly problems: readonly Problem[]
}

/** The fields of an object. The value has no member for an empty field. */
export function Fields(props: {
  readonly fields: readonly NamedField[]
  readonly value: unknown
  readonly onChange: (value: Record<string, unknown>) => void
  readonly path: string
  readonly problems: readonly Problem[]
}): VNode {
  const { fields, value, onChange, path, problems } = props
  const values: Record<string, unknown> = typeof value === 'object' && value !== null ? { ...value } : {}
  const setMember = (name: string, member: unknown) => {
    const changed = { ...values, [name]: member }
    // Keep the order of the form. Members that are not in the form may come from JSON.
    const names = new Set([...fields.map((each) => each.name), ...Object.keys(changed)])
    const entries = [...names].map((each) => [each, memberOf(changed, each)] as const)
    onChange(Object.fromEntries(entries.filter(([, each]) => each !== undefined)))
  }
  return (
    <div class="fields">
      {fields.map(({ name, isRequired, field }) => (
        <FieldRow
          key={name}
          field={field}
          name={name}
          isRequired={isRequired}
          value={memberOf(values, name)}
          onChange={(member) => setMember(name, member)}
          path={memberPath(path, name)}
          problems={problems}
        />
      ))}
    </div>
  )
}

/** Read only own members, because a field may have the name of an inherited member. */
function memberOf(values: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(values, name) ? values[name] : undefined
}

function FieldRow(props: FieldProps): VNode {
  const { field, name, isRequired, path, problems } = props
  const id = useId()
  const problem = problems.find((each) => each.path === path)
  const isGroup = field.kind === 'object' || field.kind === 'array' || field.kind === 'choices'
  const label = (
    <>
      <span class="field-name">{plainText(name)}</span>
      {field.title && field.title !== name && <span class="field-title">{plainText(field.title)}</span>}
      <span class="field-type">{typeText(field)}</span>
      {isRequired && <span class="field-required">required</span>}
    </>
  )
  const notes = (
    <>
      {field.description && (
        <p class="field-description" id={`${id}-description`}>
          {plainText(field.description)}
        </p>
      )}
      {problem && (
        <p class="field-problem" id={`${id}-problem`}>
          {problem.message}
        </p>
      )}
    </>
  )
  if (isGroup) {
    return (
      <fieldset class="field group">
        <legend>{label}</legend>
        {notes}
        <Group {...props} />
      </fieldset>
    )
  }
  return (
    <div class={hasCheckbox(field, isRequired) ? 'field flag' : 'field'}>
      <label for={id}>{label}</label>
      <Input
        {...props}
        id={id}
        aria={{
          'aria-describedby':
            `${field.description ? `${id}-description` : ''} ${problem ? `${id}-problem` : ''}`.trim() || undefined,
          'aria-invalid': problem !== undefined,
        }}
      />
      {notes}
    </div>
  )
}

function typeText(field: Field): string {
  if (field.kind === 'string' && field.format !== undefined) return plainText(field.format)
  if (field.kind === 'choices') return 'several'
  return field.kind
}

function Group({ field, value, onChange, path, problems, name }: FieldProps): VNode | null {
  if (field.kind === 'object') {
    return <Fields fields={field.fields} value={value} onChange={onChange} path={path} problems={problems} />
  }
  if (field.kind === 'choices') return <Checkboxes choices={field.choices} value={value} onChange={onChange} />
  if (field.kind !== 'array') return null
  const items = Array.isArray(value) ? (value as unknown[]) : []
  const setItems = (changed: unknown[]) => onChange(changed.length === 0 ? undefined : changed)
  return (
    <div class="items">
      {items.map((item, index) => (
        <div class="array-item" key={index}>
          <FieldRow
            field={field.items}
            name={`${name} ${index + 1}`}
            isRequired={false}
            value={item}
            onChange={(changed) => setItems(items.with(index, changed ?? emptyValue(field.items)))}
            path={memberPath(path, index)}
            problems={problems}
          />
          <Button
            look="quiet"
            label={`Remove ${name} ${index + 1}`}
            onClick={() => setItems(items.filter((_, each) => each !== index))}
          >
            Remove
          </Button>
        </div>
      ))}
      <Button look="plain" onClick={() => setItems([...items, initialValue(field.items) ?? emptyValue(field.items)])}>
        Add {plainText(name)}
      </Button>
    </div>
  )
}

/** Returns the value of an empty array item, because items cannot be left out. */
function emptyValue(field: Field): unknown {
  if (field.kind === 'string') return ''
  if (field.kind === 'boolean') return false
  if (field.kind === 'object') return {}
  return field.kind === 'array' || field.kind === 'choices' ? [] : null
}

type InputProps = FieldProps & {
  readonly id: string
  readonly aria: { readonly 'aria-describedby': string | undefined; readonly 'aria-invalid': boolean }
}

function Input(props: InputProps): VNode {
  const { field, value, onChange, id, aria, isRequired } = props
  switch (field.kind) {
    case 'boolean':
      return <BooleanInput {...props} />
    case 'choice':
      return (
        <select
          id={id}
          {...aria}
          value={String(field.choices.findIndex((choice) => isSame(choice.value, value)))}
          onChange={(event) => onChange(field.choices[Number(event.currentTarget.value)]?.value)}
        >
          <option value="-1">{isRequired ? 'Choose…' : '(none)'}</option>
          {field.choices.map((choice, index) => (
            <option key={index} value={String(index)}>
              {plainText(choice.label)}
            </option>
          ))}
        </select>
      )
    case 'number':
      return <NumberInput {...props} />
    case 'json':
      return <JsonInput {...props} />
    default: {
      const text = typeof value === 'string' ? value : ''
      const rows = Math.min(8, Math.max(1, text.split('\n').length, Math.ceil(text.length / 60)))
      return (
        <textarea
          id={id}
          {...aria}
          rows={rows}
          spellcheck={false}
          value={text}
          placeholder={placeholderOf(field.format)}
          onInput={(event) => onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value)}
        />
      )
    }
  }
}

/** An input for a number. It keeps the typed text, such as "1.0", while the text has the same value. */
function NumberInput({ value, onChange, id, aria }: InputProps): VNode {
  const [text, setText] = useState('')
  const shown = readNumber(text) === value ? text : value === undefined || value === null ? '' : String(value)
  const change = (changed: string) => {
    setText(changed)
    onChange(readNumber(changed))
  }
  return (
    <input
      id={id}
      {...aria}
      type="text"
      inputMode="decimal"
      autocomplete="off"
      value={shown}
      onInput={(event) => change(event.currentTarget.value)}
    />
  )
}

/**
 * Returns whether a boolean is shown as a checkbox. An optional boolean has three states, which a checkbox cannot show.
 */
function hasCheckbox({ kind, initial }: Field, isRequired: boolean): boolean {
  return kind === 'boolean' && (isRequired || initial !== undefined)
}

function BooleanInput({ field, value, onChange, id, aria, isRequired }: InputProps): VNode {
  if (hasCheckbox(field, isRequired)) {
    return (
      <input
        id={id}
        {...aria}
        type="checkbox"
        checked={value === true}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    )
  }
  const read = (text: string) => (text === '' ? undefined : text === 'true')
  return (
    <select
      id={id}
      {...aria}
      value={value === undefined ? '' : String(value)}
      onChange={(event) => onChange(read(event.currentTarget.value))}
    >
      <option value="">(not set)</option>
      <option value="true">true</option>
      <option value="false">false</option>
    </select>
  )
}

/** An input for JSON. Invalid JSON becomes a string, so that the validator or the server refuses it. */
function JsonInput({ value, onChange, id, aria }: InputProps): VNode {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)))
  const isWrong = text.trim() !== '' && parse(text) === undefined
  const change = (changed: string) => {
    setText(changed)
    const parsed = parse(changed)
    onChange(changed.trim() === '' ? undefined : parsed === undefined ? changed : parsed.value)
  }
  return (
    <>
      <textarea
        id={id}
        {...aria}
        aria-invalid={isWrong || aria['aria-invalid']}
        class="code"
        rows={Math.min(12, Math.max(2, text.split('\n').length))}
        spellcheck={false}
        placeholder='JSON, for example { "name": "value" }'
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
      />
      {isWrong && <p class="field-problem">This is not valid JSON</p>}
    </>
  )
}

function Checkboxes(props: {
  readonly choices: readonly Choice[]
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}): VNode {
  const { choices, value, onChange } = props
  const chosen = Array.isArray(value) ? (value as unknown[]) : []
  const toggle = (each: unknown, isOn: boolean) => {
    const rest = chosen.filter((other) => !isSame(other, each))
    const changed = isOn ? [...rest, each] : rest
    onChange(changed.length === 0 ? undefined : changed)
  }
  return (
    <div class="choices">
      {choices.map(({ value: each, label }) => (
        <label key={label} class="choice">
          <input
            type="checkbox"
            checked={chosen.some((other) => isSame(other, each))}
            onChange={(event) => toggle(each, event.currentTarget.checked)}
          />
          {plainText(label)}
        </label>
      ))}
    </div>
  )
}

/** Parses a number. Returns the text if it is not a number; the validator then reports it. */
function readNumber(text: string): number | string | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed
}

function placeholderOf(format: string | undefined): string | undefined {
  const examples: Readonly<Record<string, string>> = {
    date: '2026-01-31',
    'date-time': '2026-01-31T12:00:00Z',
    email: 'ada@example.com',
    uri: 'https://example.com/',
  }
  return format === undefined ? undefined : examples[format]
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
