/** Asks the user in the terminal: forms made from the schema of an elicitation, and consent to open a URL. */

import { confirm, isCancel, log, multiselect, select, text } from '@clack/prompts'
import { openBrowser } from '@mcpx/auth/node'
import type { ElicitAnswer, FormElicitation, UrlElicitation } from '@mcpx/client'
import { formProblem, type RequestedSchema } from '@mcpx/protocol'
import { plainLine, plainText } from '../output/plain-text.ts'
import type { Terminal } from '../output/terminal.ts'

type FormValue = NonNullable<ElicitAnswer['content']>[string]
type Field = RequestedSchema['properties'][string]

/** The user pressed Escape or Ctrl-C. */
const CANCELLED = Symbol('cancelled')

/** Where prompts read and write. They write to standard error, because standard output contains only the result. */
interface PromptStreams {
  readonly input: Terminal['stdin']
  readonly output: Terminal['stderr']
  readonly signal: AbortSignal
}

/** Asks the user for each field of a form, and then for consent to send the values. */
export async function askForm(
  { message, schema, server, signal }: FormElicitation,
  terminal: Terminal,
): Promise<ElicitAnswer> {
  const streams: PromptStreams = { input: terminal.stdin, output: terminal.stderr, signal }
  log.message(`${plainLine(server?.title ?? server?.name ?? 'The server')} asks: ${plainText(message)}`, streams)
  const content: Record<string, FormValue> = {}
  for (const [name, field] of Object.entries(schema.properties)) {
    const value = await askField(name, field, schema, streams)
    if (value === CANCELLED) return { action: 'cancel' }
    if (value !== undefined) content[name] = value
  }
  const isAccepted = await confirm({ ...streams, message: 'Send this answer?' })
  if (isCancel(isAccepted)) return { action: 'cancel' }
  return isAccepted ? { action: 'accept', content } : { action: 'decline' }
}

/** Shows a URL, and opens it with the consent of the user. */
export async function askUrl(
  { message, url, server, signal }: UrlElicitation,
  terminal: Terminal,
): Promise<ElicitAnswer> {
  const streams: PromptStreams = { input: terminal.stdin, output: terminal.stderr, signal }
  const name = plainLine(server?.title ?? server?.name ?? 'The server')
  log.message(`${name} asks you to visit a page: ${plainText(message)}\n${plainLine(url)}`, streams)
  const { host } = new URL(url)
  const isAccepted = await confirm({
    ...streams,
    message: `Open ${plainLine(host)} in your browser?`,
    initialValue: false,
  })
  if (isCancel(isAccepted)) return { action: 'cancel' }
  if (!isAccepted) return { action: 'decline' }
  if (!(await openBrowser(new URL(url)))) log.message('No browser could be opened. Open the URL yourself.', streams)
  return { action: 'accept' }
}

/** A question about one field. */
interface Question {
  readonly field: Field
  readonly message: string
  readonly isRequired: boolean
  readonly streams: PromptStreams
  /** Returns the problem of a value as a sentence, or undefined. */
  readonly problemOf: (value: unknown) => string | undefined
}

/** Asks for one value. Returns undefined if the user leaves the field out. */
async function askField(
  name: string,
  field: Field,
  { required = [] }: RequestedSchema,
  streams: PromptStreams,
): Promise<FormValue | undefined | typeof CANCELLED> {
  const isRequired = required.includes(name)
  const form = { type: 'object' as const, properties: { [name]: field }, required: [name] }
  const problemOf = (value: unknown) => formProblem(form, { [name]: value }, '')?.replace(/^\S*: /, '')
  const question = { field, message: labelOf(name, field, isRequired), isRequired, streams, problemOf }
  const { message } = question
  if (field.type === 'boolean') {
    const answer = await confirm({ ...streams, message, initialValue: field.default ?? false })
    return isCancel(answer) ? CANCELLED : answer
  }
  const choices = choicesOf(field)
  if (choices === undefined) return askText(question)
  return field.type === 'array' ? askSeveral(question, choices, field.default) : askOne(question, choices)
}

async function askText({ field, message, isRequired, streams, problemOf }: Question) {
  const isNumber = field.type === 'number' || field.type === 'integer'
  const isOptional = (given: string) => given === '' && !isRequired
  const convert = (given: string) => (isNumber ? Number(given.trim() || Number.NaN) : given)
  const answer = await text({
    ...streams,
    message,
    initialValue: field.default === undefined ? '' : String(field.default),
    validate: (given = '') => (isOptional(given) ? undefined : problemOf(convert(given))),
  })
  if (isCancel(answer)) return CANCELLED
  return isOptional(answer) ? undefined : convert(answer)
}

async function askOne({ field, message, isRequired, streams }: Question, choices: readonly Choice[]) {
  const options = isRequired ? [...choices] : [...choices, { value: '', label: '(none)' }]
  const { default: initial } = field as { default?: string }
  const answer = await select({ ...streams, message, options, initialValue: initial ?? options[0]?.value ?? '' })
  if (isCancel(answer)) return CANCELLED
  return answer === '' && !isRequired ? undefined : answer
}

async function askSeveral(
  { message, isRequired, streams, problemOf }: Question,
  choices: readonly Choice[],
  initial: readonly string[] = [],
) {
  for (;;) {
    const options = { message, options: [...choices], initialValues: [...initial], required: false }
    const answer = await multiselect({ ...streams, ...options })
    if (isCancel(answer)) return CANCELLED
    if (answer.length === 0 && !isRequired) return undefined
    const problem = problemOf(answer)
    if (problem === undefined) return answer
    log.message(problem, streams)
  }
}

function labelOf(name: string, { title, description }: Field, isRequired: boolean): string {
  const label = plainLine(title ?? name)
  const details = [description === undefined ? '' : plainLine(description), isRequired ? '' : 'optional'].filter(
    Boolean,
  )
  return details.length === 0 ? label : `${label} (${details.join('; ')})`
}

interface Choice {
  readonly value: string
  readonly label: string
}

/** Returns the options of a choice, or undefined for other fields. */
function choicesOf(field: Field): Choice[] | undefined {
  const {
    enum: values,
    enumNames,
    oneOf,
    anyOf,
    items,
  } = field as {
    enum?: readonly string[]
    enumNames?: readonly string[]
    oneOf?: readonly { const: string; title: string }[]
    anyOf?: readonly { const: string; title: string }[]
    items?: Field
  }
  if (items !== undefined) return choicesOf(items)
  const titled = oneOf ?? anyOf ?? values?.map((value, index) => ({ const: value, title: enumNames?.[index] ?? value }))
  return titled?.map((choice) => ({ value: choice.const, label: plainLine(choice.title) }))
}
