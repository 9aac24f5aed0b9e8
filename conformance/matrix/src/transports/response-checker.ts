/** Checks in HTTP responses that each request is answered once and that no message follows the answer. */

import { decode, isRequest, type Message, type RequestId } from '@mcpx/protocol'

/** Receives the text of one HTTP response in chunks. */
export interface ResponseListener {
  onText(text: string): void
  /** Called when the response has ended. */
  onEnd(): void
}

export interface ResponseChecker {
  /** Registers an HTTP request body. Returns a function that creates the listener for the response. */
  sent(body: string): (type: string) => ResponseListener
}

const EVENT_END = '\n\n'

export function createResponseChecker(onWarning: (problem: Error) => void): ResponseChecker {
  /** Whether each request has been answered. */
  const answered = new Map<RequestId, boolean>()

  function checkMessage(message: Message, requestId: RequestId | undefined): void {
    if ('method' in message) {
      if (requestId !== undefined && answered.get(requestId)) onWarning(wrong('a message after the answer', message))
      return
    }
    const id = message.id ?? undefined
    if (id === undefined) return
    if (answered.get(id) !== false) onWarning(wrong('an answer without a pending request', message))
    answered.set(id, true)
  }

  return {
    sent(body) {
      const message = body === '' ? undefined : (decode(body) as Message)
      const requestId = message !== undefined && isRequest(message) ? message.id : undefined
      if (requestId !== undefined) answered.set(requestId, false)
      return (type) => {
        let rest = ''
        const checkText = (text: string) =>
          void checkAll(decode(text) as Message | Message[], (each) => checkMessage(each, requestId))
        return {
          onText(text) {
            rest += text
            if (!type.startsWith('text/event-stream')) return
            const events = rest.split(EVENT_END)
            rest = events.pop() ?? ''
            for (const event of events) {
              const data = /^data: (\{.*|\[.*)$/m.exec(event)?.[1]
              if (data !== undefined) checkText(data)
            }
          },
          onEnd() {
            if (type.startsWith('application/json')) checkText(rest)
          },
        }
      }
    },
  }
}

function checkAll(item: Message | Message[], checkMessage: (message: Message) => void): void {
  for (const message of Array.isArray(item) ? item : [item]) checkMessage(message)
}

function wrong(what: string, message: Message): Error {
  return new Error(`HTTP response: ${what}: ${JSON.stringify(message).slice(0, 200)}`)
}
