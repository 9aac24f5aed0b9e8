/** Compares a server with the transcript of an earlier dialogue with it. */

import type { Connection, Connector, JsonObject, Responder } from '@mcpx/protocol'
import { type Failure, failureOf, type Step, toConnector, withoutMemory, wrapConnector } from './observe.ts'
import { RecordedSteps, type RecordOptions, type Transcript } from './recorded-steps.ts'

/**
 * Returns a connector that compares the responses of a server, and the requests that it sends to the client, with a
 * transcript. If a response differs, or if a request was not recorded, the request rejects with a `ConnectionError` whose
 * reason is `unsupported` and whose message lists the differences. Members that servers create anew in each run, such as
 * `requestState` and the times of tasks, are ignored. The option `redact` can replace further members.
 *
 * @throws TypeError if the value is not a transcript
 */
export function compareTranscript(
  target: Responder | Connector,
  transcript: Transcript,
  options: RecordOptions = {},
): Connector {
  return compareSteps(target, new RecordedSteps(transcript, { ...options, place: 'compare', ignoresChosen: true }))
}

const HINT = 'Record the transcript again if the server has changed on purpose, for example with MCPX_RECORD=1.'

/** Returns a connector that compares the server with the steps of a transcript. */
export function compareSteps(target: Responder | Connector, recorded: RecordedSteps): Connector {
  const connector = toConnector('compare', target)
  /**
   * Differences in requests of the server. Not every transport shows to which call a request of the server belongs, so the
   * differences are reported with the next response.
   */
  const problems: string[] = []

  function compareQuestions(responder: Responder): Responder {
    return {
      get silent() {
        return responder.silent
      },
      respond(message, exchange) {
        if ('id' in message) problems.push(...compareQuestion(recorded, message.method, message.params))
        return responder.respond(message, exchange)
      },
    }
  }

  function compareResponses(connection: Connection): Connection {
    return {
      closed: connection.closed,
      hasSeparateStreams: connection.hasSeparateStreams,
      negotiated: (revision, onMissed) => connection.negotiated?.(revision, onMissed),
      close: (reason) => connection.close(reason),
      notify: (method, params) => connection.notify(method, params),
      async request(method, params, options) {
        const { call } = recorded.useCall(method, params as JsonObject | undefined)
        const expected = recorded.steps.find((step): step is Response => isResponse(step) && step.call === call)
        let [result, failure]: [unknown, unknown] = [undefined, undefined]
        try {
          result = await connection.request(method, params, options)
        } catch (error) {
          failure = error
        }
        const response = failure === undefined ? { result } : { error: failureOf(failure) }
        const differences = [...problems.splice(0), ...compareResponse(recorded, method, response, expected)]
        if (differences.length > 0) throw recorded.createError(differences, HINT)
        if (failure !== undefined) throw failure
        return result
      },
    }
  }

  return wrapConnector(withoutMemory(connector), async (options) =>
    compareResponses(await connector.connect({ ...options, responder: compareQuestions(options.responder) })),
  )
}

type Response = Extract<Step, { from: 'server'; call: number; result: unknown } | { error: Failure; call: number }>

function isResponse(step: Step): step is Response {
  return step.from === 'server' && 'call' in step && ('result' in step || 'error' in step)
}

function compareResponse(
  recorded: RecordedSteps,
  method: string,
  response: { readonly result: unknown } | { readonly error: Failure },
  expected: Response | undefined,
): string[] {
  // A request without a response was ended by the client, or by the end of the connection.
  if (expected === undefined || hasNoResponse(response) || hasNoResponse(expected)) return []
  const recordedResponse = 'error' in expected ? { error: expected.error } : { result: expected.result }
  return recorded.compare(method, response, recordedResponse)
}

function hasNoResponse(response: { readonly result: unknown } | { readonly error: Failure }): boolean {
  return 'error' in response && ['closed', 'cancelled', 'timeout'].includes(response.error.reason ?? '')
}

/** Compares a request of the server with the next recorded request of the same method. */
function compareQuestion(recorded: RecordedSteps, method: string, params: JsonObject | undefined): string[] {
  const expected = recorded.steps.find(
    (step) => step.from === 'server' && 'question' in step && step.method === method && !recorded.isUsed(step),
  )
  if (expected === undefined) return [`${method}: expected no further request from the server, got one`]
  recorded.use(expected)
  return recorded.compare(`${method}, params`, params, 'params' in expected ? expected.params : undefined)
}
