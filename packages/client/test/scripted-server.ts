/** A server of any revision that answers as scripted and records the messages it receives. */

import {
  type Connection,
  type ConnectOptions,
  type Connector,
  claimsModern,
  createDuplex,
  type Duplex,
  type Exchange,
  eraOf,
  errorMessage,
  invalidParams,
  type JsonObject,
  methodNotFound,
  type NotificationMessage,
  type RequestMessage,
  type Responder,
  type Revision,
  RpcError,
  resultMessage,
  unsupportedVersion,
} from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'

export interface Asked {
  readonly params: JsonObject
  readonly exchange: Exchange
  readonly message: RequestMessage
}

export type Answers = Readonly<Record<string, (asked: Asked) => object | Promise<object>>>

export interface ScriptedServer extends Responder {
  /** All received messages, in order. */
  readonly heard: (RequestMessage | NotificationMessage)[]
  /** The requests of one method. */
  asked(method: string): RequestMessage[]
}

export interface Script {
  readonly capabilities?: JsonObject
  readonly answers?: Answers
}

export const META = 'io.modelcontextprotocol/'

export function scriptedServer(revision: Revision, script: Script = {}): ScriptedServer {
  const { capabilities = { tools: {}, resources: {}, prompts: {} } } = script
  const isModern = eraOf(revision) === 'modern'
  const info = { name: 'scripted', version: '1.0.0' }
  const opening: Answers = isModern
    ? { 'server/discover': () => ({ supportedVersions: [revision], capabilities, instructions: 'Be kind.' }) }
    : {
        initialize: () => ({ protocolVersion: revision, capabilities, serverInfo: info, instructions: 'Be kind.' }),
        ping: () => ({}),
      }
  const answers: Answers = { ...opening, ...script.answers }
  const heard: (RequestMessage | NotificationMessage)[] = []
  let isOpen = isModern

  async function answer(message: RequestMessage, exchange: Exchange): Promise<object> {
    const { method, params = {} } = message
    if (isModern && !claimsModern(message)) throw invalidParams('params._meta: no envelope')
    if (!isModern && claimsModern(message)) throw new RpcError(-32600, 'Speak plainly')
    if (!isOpen && method !== 'initialize' && method !== 'ping') throw new RpcError(-32000, 'Not initialized')
    const give = Object.hasOwn(answers, method) ? answers[method] : undefined
    if (give === undefined) throw methodNotFound(method)
    const result = await give({ params, exchange, message })
    if (!isModern) return result
    return {
      resultType: 'complete',
      ...result,
      _meta: { [`${META}serverInfo`]: info, ...((result as JsonObject)._meta as object) },
    }
  }

  return {
    heard,
    asked: (method) => heard.filter((each): each is RequestMessage => 'id' in each && each.method === method),
    async respond(message, exchange) {
      heard.push(message)
      if (!('id' in message)) {
        if (message.method === 'notifications/initialized') isOpen = true
        return undefined
      }
      try {
        return resultMessage(message.id, await answer(message, exchange))
      } catch (error) {
        return errorMessage(message.id, error as RpcError)
      }
    },
  }
}

/** Creates the error of a server that supports other revisions. */
export function speaksOnly(requested: string, supported: string[]): RpcError {
  return unsupportedVersion(requested, supported)
}

export interface ScriptedConnector extends Connector {
  /** The number of connections. */
  readonly connections: number
  /** The server's end of the newest connection. */
  readonly server: Duplex
}

/** Connects to servers of this process. The function returns the server of the nth connection. */
export function connectorTo(serverOf: (count: number) => Responder, extra: Partial<Connector> = {}): ScriptedConnector {
  let server: Duplex | undefined
  const connector = {
    ...extra,
    connections: 0,
    get server() {
      return server as Duplex
    },
    connect({ responder, onWarning: report }: ConnectOptions): Connection {
      const [here, there] = createChannelPair()
      connector.connections += 1
      server = createDuplex(there, { responder: serverOf(connector.connections), onWarning: report })
      return createDuplex(here, { responder, onWarning: report })
    },
  }
  return connector
}
