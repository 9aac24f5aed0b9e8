/** The driver for the client of the official SDK 2.x. */

import { LATEST_MODERN_REVISION } from '@mcpx/protocol'
import {
  answerForm,
  answerSampling,
  type Driver,
  folders,
  noMessages,
  type ReceivedMessages,
  type Target,
} from '../driver.ts'
import { load } from '../load.ts'
import { capabilities, type Differences, drive, type Handle, info, listeners, type OfficialClient } from './official.ts'

interface Client extends OfficialClient {
  setRequestHandler(method: string, handle: Handle): void
  setNotificationHandler(method: string, handle: Handle): void
  callTool(params: object, options: object): Promise<object>
  request(request: object, schema: object): Promise<unknown>
  getNegotiatedProtocolVersion(): string | undefined
  getProtocolEra(): 'legacy' | 'modern' | undefined
  listen(filter: object): Promise<{ close(): Promise<void>; readonly closed: Promise<unknown> }>
}

interface Module {
  Client: new (info: object, options: object) => Client
  LOG_LEVEL_META_KEY: string
  StdioClientTransport: new (server: object) => object
  StreamableHTTPClientTransport: new (url: URL, options: object) => object
  SSEClientTransport: new (url: URL) => object
  specTypeSchemas: Readonly<Record<string, object>>
}

export async function connectSdk2(target: Target): Promise<Driver> {
  const sdk = await load<Module>('@modelcontextprotocol/client', '@modelcontextprotocol/client/stdio')
  const received = noMessages()
  const client = new sdk.Client(info, { capabilities, ...negotiation(target) })
  for (const [method, handle] of Object.entries(listeners(received))) client.setNotificationHandler(method, handle)
  for (const [method, handle] of Object.entries(answers(received))) client.setRequestHandler(method, handle)
  await client.connect(transportTo(target, sdk))
  return drive(client, received, differences(client, sdk))
}

function negotiation({ revision }: Target): object {
  if (revision === undefined) return { versionNegotiation: { mode: 'auto' } }
  if (revision === LATEST_MODERN_REVISION) return { versionNegotiation: { mode: { pin: revision } } }
  return { supportedProtocolVersions: [revision] }
}

function answers(received: ReceivedMessages): Record<string, Handle> {
  return {
    'elicitation/create': ({ params }) => {
      const { mode = 'form', message, url } = params as { mode?: string; message: string; url?: string }
      return answerForm(received, mode, message, url)
    },
    'sampling/createMessage': ({ params = {} }) => answerSampling(params),
    'roots/list': () => ({ roots: folders }),
  }
}

function differences(client: Client, sdk: Module): Differences {
  const isModern = client.getProtocolEra() === 'modern'
  let level: string | undefined
  return {
    revision: client.getNegotiatedProtocolVersion() ?? '',
    call: (params, { signal, onProgress }) =>
      client.callTool(
        { ...params, ...(level !== undefined && { _meta: { [sdk.LOG_LEVEL_META_KEY]: level } }) },
        { timeout: 5_000, ...(signal && { signal }), ...(onProgress && { onprogress: onProgress }) },
      ),
    request: (method) => client.request({ method }, sdk.specTypeSchemas.EmptyResult ?? {}),
    ...(isModern && {
      async setLogLevel(newLevel) {
        level = newLevel
      },
      async watch(uri) {
        const stream = await client.listen({ resourceSubscriptions: [uri] })
        return () => stream.close()
      },
      async watchTools() {
        await client.listen({ toolsListChanged: true })
      },
      listen: (uris) => client.listen({ toolsListChanged: true, resourceSubscriptions: [...uris] }),
    }),
  }
}

function transportTo({ transport, url = '', command = [], fetch, retries = 3 }: Target, sdk: Module): object {
  const [name, ...args] = command
  if (transport === 'stdio') return new sdk.StdioClientTransport({ command: name, args, stderr: 'ignore' })
  if (transport === 'sse') return new sdk.SSEClientTransport(new URL(url))
  const reconnectionOptions = {
    initialReconnectionDelay: 10,
    maxReconnectionDelay: 1_000,
    reconnectionDelayGrowFactor: 1.5,
    maxRetries: retries,
  }
  return new sdk.StreamableHTTPClientTransport(new URL(url), { reconnectionOptions, ...(fetch && { fetch }) })
}
