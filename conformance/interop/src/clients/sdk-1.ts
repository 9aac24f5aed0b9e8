/** The driver for the client of the official SDK 1.x. */

import * as z from 'zod'
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
import { capabilities, drive, type Handle, info, listeners, type OfficialClient } from './official.ts'

interface Client extends OfficialClient {
  setRequestHandler(schema: z.ZodType, handle: Handle): void
  setNotificationHandler(schema: z.ZodType, handle: Handle): void
  callTool(params: object, schema: undefined, options: object): Promise<object>
  request(request: object, schema: z.ZodType): Promise<unknown>
}

interface Module {
  Client: new (info: object, options: object) => Client
  StdioClientTransport: new (server: object) => object
  StreamableHTTPClientTransport: new (url: URL, options: object) => object
  SSEClientTransport: new (url: URL) => object
}

const FILES = ['index', 'stdio', 'streamableHttp', 'sse'].map((file) => `@modelcontextprotocol/sdk/client/${file}.js`)

export async function connectSdk1(target: Target): Promise<Driver> {
  const sdk = await load<Module>(...FILES)
  const received = noMessages()
  const client = new sdk.Client(info, { capabilities })
  for (const [method, handle] of Object.entries(listeners(received)))
    client.setNotificationHandler(message(method), handle)
  for (const [method, handle] of Object.entries(answers(received))) client.setRequestHandler(message(method), handle)
  const transport = transportTo(target, sdk) as { setProtocolVersion?: (revision: string) => void }
  let revision = ''
  const setProtocolVersion = transport.setProtocolVersion?.bind(transport)
  transport.setProtocolVersion = (agreed) => {
    revision = agreed
    setProtocolVersion?.(agreed)
  }
  await client.connect(transport)
  return drive(client, received, {
    revision,
    call: (params, { signal, onProgress }) =>
      client.callTool(params, undefined, {
        timeout: 5_000,
        ...(signal && { signal }),
        ...(onProgress && { onprogress: onProgress }),
      }),
    request: (method) => client.request({ method }, z.object({})),
  })
}

function message(method: string): z.ZodType {
  return z.object({ method: z.literal(method), params: z.looseObject({}).optional() })
}

function answers(received: ReceivedMessages): Record<string, Handle> {
  return {
    'elicitation/create': ({ params }) => {
      const { mode = 'form', message: text, url } = params as { mode?: string; message: string; url?: string }
      return answerForm(received, mode, text, url)
    },
    'sampling/createMessage': ({ params = {} }) => answerSampling(params),
    'roots/list': () => ({ roots: folders }),
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
