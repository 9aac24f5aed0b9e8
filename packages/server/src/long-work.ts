/** The context of work that may take longer than its request. Its questions and steps are functions of an extension. */

import { type Awaitable, type Context, type Exchange, withMembers } from '@mcpx/protocol'
import { DeclaredClient, RequestContext } from './context.ts'
import type { LongWork } from './extension.ts'
import {
  type Asker,
  askUntilValid,
  claimQuestions,
  type OnUnsupported,
  type QuestionKinds,
  type Questions,
  startOnce,
  toStepResult,
} from './questions.ts'

/**
 * Creates a context. Members that communicate with the client use `work`. All other members are read from `base`, if it
 * is given.
 */
export function createWorkContext(
  work: LongWork,
  onUnsupported: OnUnsupported | undefined,
  base: Context | undefined,
): { ctx: Context; own: RequestContext } {
  const { request, signal, auth, client, requestInfo } = work
  const exchange: Exchange = { signal, auth, requestInfo, session: undefined, notify: async () => {} }
  const own = new RequestContext(request.params, exchange, {
    client: new DeclaredClient(client.info, client.capabilities, 'modern'),
    logLevel: undefined,
    notify: async () => {},
    createAsker: () => new WorkAsker(work, onUnsupported),
  })
  const { elicit, openUrl, sample, roots, ask, step } = own
  const progress: Context['progress'] = (done, total, message) => work.progress(done, total, message)
  const replaced = { signal, elicit, openUrl, sample, roots, ask, step, progress, ...work.members }
  return { ctx: withMembers(base ?? own, replaced), own }
}

class WorkAsker implements Asker {
  readonly #work: LongWork
  readonly #onUnsupported: OnUnsupported | undefined
  readonly #kinds: QuestionKinds = new Map()
  readonly #steps = new Map<string, Promise<unknown>>()

  constructor(work: LongWork, onUnsupported: OnUnsupported | undefined) {
    this.#work = work
    this.#onUnsupported = onUnsupported
  }

  async ask(questions: Questions, askedKeys: Set<string>): Promise<Readonly<Record<string, unknown>>> {
    const client = {
      capabilities: this.#work.client.capabilities,
      declaresContext: true,
      onUnsupported: this.#onUnsupported,
    }
    const { usable, answered } = claimQuestions(questions, this.#kinds, askedKeys, client)
    const answers = usable.map(async ([key, question]) => {
      const askOnce: Parameters<typeof askUntilValid>[1] = (request, attempt) =>
        this.#work.ask(attempt === 1 ? key : `${key}#${attempt}`, request)
      return [key, await askUntilValid(question, askOnce)] as const
    })
    const [others, entries] = await Promise.all([answered, Promise.all(answers)])
    return { ...others, ...Object.fromEntries(entries) }
  }

  step<Result>(key: string, run: () => Awaitable<Result>): Promise<Result> {
    const start = () => this.#work.step(key, async () => toStepResult(key, await run()))
    return startOnce(this.#steps, key, start) as Promise<Result>
  }
}
