/** Sees on the wire of HTTP that each request is answered once, and that nothing is said about it afterwards. */

import { decode, isRequest, type Message, type RequestId } from '@mcpx/protocol'

/** Hears the text of a response, piece by piece. */
export interface Ear {
  hear(text: string): void
  /** The response has ended. */
  end(): void
}

export interface AnswersWatch {
  /** A request of HTTP with its body, and the ear for the response to it. */
  sent(body: string): (type: string) => Ear
}

const EVENT_END = '\n\n'

export function watchAnswers(report: (problem: Error) => void): AnswersWatch {
  /** Whether what was asked has been answered. */
  const answered = new Map<RequestId, boolean>()

  function take(message: Message, asked: RequestId | undefined): void {
    if ('method' in message) {
      if (asked !== undefined && answered.get(asked)) report(wrong('said after the answer', message))
      return
    }
    const id = message.id ?? undefined
    if (id === undefined) return
    if (answered.get(id) !== false) report(wrong('an answer to what was not asked, or is answered', message))
    answered.set(id, true)
  }

  return {
    sent(body) {
      const message = body === '' ? undefined : (decode(body) as Message)
      const asked = message !== undefined && isRequest(message) ? message.id : undefined
      if (asked !== undefined) answered.set(asked, false)
      return (type) => {
        let rest = ''
        const takeText = (text: string) =>
          void takeAll(decode(text) as Message | Message[], (each) => take(each, asked))
        return {
          hear(text) {
            rest += text
            if (!type.startsWith('text/event-stream')) return
            const events = rest.split(EVENT_END)
            rest = events.pop() ?? ''
            for (const event of events) {
              const data = /^data: (\{.*|\[.*)$/m.exec(event)?.[1]
              if (data !== undefined) takeText(data)
            }
          },
          end() {
            if (type.startsWith('application/json')) takeText(rest)
          },
        }
      }
    },
  }
}

function takeAll(item: Message | Message[], take: (message: Message) => void): void {
  for (const message of Array.isArray(item) ? item : [item]) take(message)
}

function wrong(what: string, message: Message): Error {
  return new Error(`On the wire there was ${what}: ${JSON.stringify(message).slice(0, 200)}`)
}
