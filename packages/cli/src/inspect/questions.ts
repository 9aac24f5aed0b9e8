/** Input requests of the server that wait for an answer from the page. */

import type { ElicitAnswer, Elicitation, InputRequestOrigin } from '@mcpx/client'
import {
  type CreateMessageRequestParams,
  type CreateMessageResult,
  isObject,
  type JsonObject,
  userRejected,
} from '@mcpx/protocol'
import type { Answer, Question } from './api.ts'

interface Waiting {
  readonly question: Question
  answer(answer: Answer): void
}

/** A question without the members that all questions have. */
type Asked<Each = Question> = Each extends Question ? Omit<Each, 'id' | 'server'> : never

/** The callbacks of `Questions`. */
export interface QuestionListener {
  /** Called with a new question. */
  onQuestion(question: Question): void
  /** Called with the id of a question that was answered, or whose request has ended. */
  onAnswered(question: string): void
}

/** Passes questions to the page, and its answers to the server. */
export class Questions {
  readonly #waiting = new Map<string, Waiting>()
  readonly #listener: QuestionListener
  #count = 0

  constructor(listener: QuestionListener) {
    this.#listener = listener
  }

  /** The questions without an answer. */
  get waiting(): Question[] {
    return [...this.#waiting.values()].map(({ question }) => question)
  }

  /** Answers a question. Ignores an unknown id, because the question may have been answered in another tab. */
  answer(id: string, answer: Answer): void {
    this.#waiting.get(id)?.answer(answer)
  }

  /** The `onElicit` option of `connect`. */
  readonly elicit = async (elicitation: Elicitation): Promise<ElicitAnswer> => {
    const { mode, message } = elicitation
    const asked: Asked =
      mode === 'form'
        ? { kind: 'form', message, schema: elicitation.schema as JsonObject }
        : { kind: 'url', message, url: elicitation.url }
    const { action, content } = await this.#ask(asked, elicitation)
    return {
      action,
      ...(action === 'accept' && mode === 'form' && { content: (content ?? {}) as ElicitAnswer['content'] }),
    }
  }

  /** The `onSample` option of `connect`. The user writes the message of the model. */
  readonly sample = async (
    params: CreateMessageRequestParams,
    origin: InputRequestOrigin,
  ): Promise<CreateMessageResult> => {
    const { action, content } = await this.#ask({ kind: 'sampling', params: params as JsonObject }, origin)
    if (action !== 'accept' || !isObject(content)) throw userRejected()
    return content as CreateMessageResult
  }

  async #ask(asked: Asked, { server, signal }: InputRequestOrigin): Promise<Answer> {
    this.#count += 1
    const id = `q${this.#count}`
    const question = { id, server: server?.title ?? server?.name ?? 'The server', ...asked } as Question
    const answered = new Promise<Answer>((resolve) => {
      this.#waiting.set(id, { question, answer: resolve })
      // The request has ended, so no answer is needed.
      signal.addEventListener('abort', () => resolve({ action: 'cancel' }), { once: true })
    })
    this.#listener.onQuestion(question)
    const answer = signal.aborted ? { action: 'cancel' as const } : await answered
    this.#waiting.delete(id)
    this.#listener.onAnswered(id)
    return answer
  }
}
