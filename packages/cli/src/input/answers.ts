/** Answers elicitations of servers: with the answers in a file, or with a form in the terminal. */

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ElicitAnswer, Elicitation, FormElicitation } from '@mcpx/client'
import { formProblem, isObject, type JsonObject, kindOf, withFormDefaults } from '@mcpx/protocol'
import type { CommandContext } from '../commands/index.ts'
import { usageError } from '../output/errors.ts'
import { plainLine } from '../output/plain-text.ts'

/** The `onElicit` option of `connect`. */
export type OnElicit = (elicitation: Elicitation) => Promise<ElicitAnswer>

/** Options of `createAnswers`. */
export interface AnswerOptions {
  /** The path of a JSON file: the values of all forms, or an array with the answer to each elicitation. */
  readonly answers?: string | undefined
  /** Called before the user is asked. */
  readonly beforeInput?: (() => void) | undefined
}

/**
 * Creates the `onElicit` option. It first uses the answers in the file, and then asks the user. Without a terminal, it
 * declines elicitations and writes a note. It handles one elicitation at a time.
 *
 * @throws CliError if the file cannot be read
 */
export async function createAnswers(
  context: CommandContext,
  { answers, beforeInput }: AnswerOptions,
): Promise<OnElicit> {
  const given = answers === undefined ? [] : await readAnswers(resolve(context.terminal.cwd, answers))
  let last: Promise<unknown> = Promise.resolve()

  async function answer(elicitation: Elicitation): Promise<ElicitAnswer> {
    const next = Array.isArray(given) ? given.shift() : given
    if (next !== undefined) return answerFrom(next, elicitation)
    const { terminal, output } = context
    if (!terminal.isInteractive) {
      const answered = elicitation.mode === 'form' ? ' Answer with --answers <file>.' : ''
      output.note(
        `The server asks: ${plainLine(elicitation.message)}\nThis was declined, because there is no terminal.${answered}`,
      )
      return { action: 'decline' }
    }
    beforeInput?.()
    const { askForm, askUrl } = await import('./forms.ts')
    return elicitation.mode === 'form' ? askForm(elicitation, terminal) : askUrl(elicitation, terminal)
  }

  return (elicitation) => {
    const result = last.then(() => answer(elicitation))
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

/**
 * Converts an answer in the file: `{ "action": … }`, or the values of the fields. Throws if a value does not match the
 * form.
 */
function answerFrom(given: JsonObject, elicitation: Elicitation): ElicitAnswer {
  const { action } = given
  const isWhole =
    (action === 'accept' || action === 'decline' || action === 'cancel') && !hasField(elicitation, 'action')
  if (isWhole && action !== 'accept') return { action }
  // A URL is opened only if the file accepts this elicitation, so values of forms decline it.
  if (elicitation.mode === 'url') return { action: isWhole ? 'accept' : 'decline' }
  const values = isWhole ? (isObject(given.content) ? given.content : {}) : given
  const fields = Object.entries(values).filter(([name]) => hasField(elicitation, name))
  const content = withFormDefaults(elicitation.schema, Object.fromEntries(fields))
  const problem = formProblem(elicitation.schema, content, '--answers')
  if (problem !== undefined) throw usageError(`${problem}, for the form "${plainLine(elicitation.message)}"`)
  return { action: 'accept', content: content as NonNullable<ElicitAnswer['content']> }
}

function hasField(elicitation: Elicitation, name: string): boolean {
  return elicitation.mode === 'form' && Object.hasOwn((elicitation as FormElicitation).schema.properties, name)
}
