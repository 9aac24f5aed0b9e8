/** Answers the elicitations of servers: from a file, or by asking the user in the terminal. */

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ElicitAnswer, ElicitAsk, FormAsk } from '@mcpx/client'
import { formProblem, isObject, type JsonObject, kindOf, withFormDefaults } from '@mcpx/protocol'
import type { CommandContext } from '../commands/index.ts'
import { usageError } from '../output/errors.ts'
import { plainLine } from '../output/plain-text.ts'

/** The `onElicit` option of `connect`. */
export type OnElicit = (ask: ElicitAsk) => Promise<ElicitAnswer>

/** Options of `createAnswers`. */
export interface AnswerOptions {
  /** The path of a JSON file: the values of all forms, or an array with the answer to each elicitation. */
  readonly answers?: string | undefined
  /** Called before the user is asked. */
  readonly onAsk?: (() => void) | undefined
}

/**
 * Creates the `onElicit` option. Answers of the file are used first, then the user is asked. Without a terminal, elicitations
 * are declined with a note. One elicitation is answered at a time.
 *
 * @throws CliError for a file that cannot be read
 */
export async function createAnswers(context: CommandContext, { answers, onAsk }: AnswerOptions): Promise<OnElicit> {
  const given = answers === undefined ? [] : await readAnswers(resolve(context.terminal.cwd, answers))
  let last: Promise<unknown> = Promise.resolve()

  async function answer(ask: ElicitAsk): Promise<ElicitAnswer> {
    const next = Array.isArray(given) ? given.shift() : given
    if (next !== undefined) return answerFrom(next, ask)
    const { terminal, output } = context
    if (!terminal.isInteractive) {
      const answered = ask.mode === 'form' ? ' Answer with --answers <file>.' : ''
      output.note(
        `The server asks: ${plainLine(ask.message)}\nThis was declined, because there is no terminal.${answered}`,
      )
      return { action: 'decline' }
    }
    onAsk?.()
    const { askForm, askUrl } = await import('./forms.ts')
    return ask.mode === 'form' ? askForm(ask, terminal) : askUrl(ask, terminal)
  }

  return (ask) => {
    const result = last.then(() => answer(ask))
    last = result.catch(() => {})
    return result
  }
}

async function readAnswers(path: string): Promise<JsonObject | JsonObject[]> {
  let answers: unknown
  try {
    answers = JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    throw usageError(`--answers: ${path} cannot be read: ${(cause as Error).message}`)
  }
  if (isObject(answers) || (Array.isArray(answers) && answers.every(isObject)))
    return answers as JsonObject | JsonObject[]
  const example = 'Example: { "name": "Ada" }, or [{ "name": "Ada" }, { "action": "decline" }]'
  throw usageError(`--answers: ${path}: expected an object or an array of objects, got ${kindOf(answers)}`, example)
}

/** Returns a given answer: `{ "action": … }`, or the values of the fields. Throws for values that do not fit the form. */
function answerFrom(given: JsonObject, ask: ElicitAsk): ElicitAnswer {
  const { action } = given
  const isWhole = (action === 'accept' || action === 'decline' || action === 'cancel') && !hasField(ask, 'action')
  if (isWhole && action !== 'accept') return { action }
  // A URL is opened only with consent to this one.
  if (ask.mode === 'url') return { action: isWhole ? 'accept' : 'decline' }
  const values = isWhole ? (isObject(given.content) ? given.content : {}) : given
  const fields = Object.entries(values).filter(([name]) => hasField(ask, name))
  const content = withFormDefaults(ask.schema, Object.fromEntries(fields))
  const problem = formProblem(ask.schema, content, '--answers')
  if (problem !== undefined) throw usageError(`${problem}, for the form "${plainLine(ask.message)}"`)
  return { action: 'accept', content: content as NonNullable<ElicitAnswer['content']> }
}

function hasField(ask: ElicitAsk, name: string): boolean {
  return ask.mode === 'form' && Object.hasOwn((ask as FormAsk).schema.properties, name)
}
