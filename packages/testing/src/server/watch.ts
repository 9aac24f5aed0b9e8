/** Watches the tool calls of a host or an agent. */

import { type CallToolResult, type Connector, isObject, type JsonObject, type Responder } from '@mcpx/protocol'
import { isEqual } from '../check.ts'
import { errorOf, observeConnector, toConnector } from './observe.ts'

/** A tool call that a host has made. */
export interface WatchedCall {
  /** The name of the tool, as the server knows it. */
  readonly tool: string
  /** The arguments. */
  readonly arguments: JsonObject
  /** The result. Undefined while the call runs, and if it failed without one. */
  readonly result: CallToolResult | undefined
  /** The error of a call without a result. */
  readonly error: Error | undefined
}

/** A connector that knows the tool calls of its connections. */
export interface WatchedConnector extends Connector {
  /** The tool calls so far, in the order in which they began. */
  readonly calls: readonly WatchedCall[]
}

/**
 * Returns a connector that records the tool calls of its connections, for tests of an agent. A call whose server asked
 * the user counts once.
 *
 * ```ts
 * const shop = watchTools(server)
 * await runAgent({ servers: { shop }, prompt: 'Buy a lamp.' })
 * expect(shop).toHaveCalled('buy', { item: 'lamp' })
 * ```
 *
 * @param target a server, or a connector such as `replay(file)` and `faults(connector, options)`
 */
export function watchTools(target: Responder | Connector): WatchedConnector {
  const calls: Writable<WatchedCall>[] = []
  const running = new Map<number, Writable<WatchedCall>>()
  const observed = observeConnector(toConnector('watchTools', target), (step) => {
    if (!('call' in step) || step.call === undefined || 'question' in step) return
    if (step.from === 'client' && 'method' in step) {
      if (step.method === 'tools/call') running.set(step.call, addCall(calls, step.params ?? {}))
      return
    }
    const call = running.get(step.call)
    if (call === undefined || 'method' in step) return
    running.delete(step.call)
    if ('error' in step && step.error !== undefined) call.error = errorOf(step.error)
    else if ('result' in step) call.result = step.result as CallToolResult
  })
  return { ...observed, calls }
}

type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] }

/** Adds a call, or returns the call that this request continues with the answers of the user. */
function addCall(calls: Writable<WatchedCall>[], params: JsonObject): Writable<WatchedCall> {
  const [tool, args] = [String(params.name), isObject(params.arguments) ? params.arguments : {}]
  if ('inputResponses' in params || 'requestState' in params) {
    const begun = calls.findLast(
      (call) => isUnfinished(call.result) && call.tool === tool && isEqual(call.arguments, args),
    )
    if (begun !== undefined) return begun
  }
  const call = { tool, arguments: args, result: undefined, error: undefined }
  calls.push(call)
  return call
}

function isUnfinished(result: object | undefined): boolean {
  return result !== undefined && 'resultType' in result && result.resultType === 'input_required'
}
