/** The driver for our client. */

import { type Client, connect, createEraMemory } from '@mcpx/client'
import type { Change, CreateMessageResult, Revision } from '@mcpx/protocol'
import { http } from '@mcpx/transport-http/client'
import { spawn } from '@mcpx/transport-stdio'
import {
  answerForm,
  answerSampling,
  type Driver,
  folders,
  noMessages,
  type ReceivedMessages,
  type Target,
} from '../driver.ts'

const info = { name: 'visitor', version: '1.0.0' }

export async function connectOurs(target: Target): Promise<Driver> {
  const received = noMessages()
  const client = await connect(connector(target), {
    clientInfo: info,
    era: (target.revision as Revision | undefined) ?? 'auto',
    eraMemory: createEraMemory(),
    // Several servers start at the same time, on machines that may be busy.
    timeout: 15_000,
    onElicit: (request) =>
      request.mode === 'url'
        ? answerForm(received, 'url', request.message, request.url)
        : answerForm(received, 'form', request.message),
    onSample: (params) => answerSampling(params) as CreateMessageResult,
    sampling: { tools: true },
    roots: target.roots ?? folders,
    onLog: ({ level, data, logger }) =>
      void received.logs.push({ level, data, ...(logger !== undefined && { logger }) }),
    onChange: (change) => addChange(received, change),
  })
  return drive(client, received)
}

function connector({ transport, url = '', command = [], env, fetch }: Target) {
  const [name = '', ...args] = command
  if (transport === 'stdio') return spawn(name, args, { stderr: 'ignore', env, probeTimeout: 10_000 })
  return http(url, { fetch, reconnect: { minDelay: 10 } })
}

function addChange(received: ReceivedMessages, change: Change): void {
  if (change.kind === 'resource') received.updated.push(change.uri)
  else received.lists.push(change.kind)
}

function drive(client: Client, received: ReceivedMessages): Driver {
  const { info: server, instructions } = client.server
  return {
    revision: client.revision,
    server: server ?? { name: '' },
    instructions,
    received,
    listTools: () => client.listTools().all(),
    callTool: (name, args, options) => client.callTool(name, args, options as object),
    listResources: () => client.listResources().all(),
    listTemplates: () => client.listResourceTemplates().all(),
    readResource: (uri) => client.readResource(uri),
    listPrompts: () => client.listPrompts().all(),
    getPrompt: (name, args) => client.getPrompt(name, args),
    complete: (params) => client.complete(params),
    setLogLevel: (level) => client.setLogLevel(level),
    async watch(uri) {
      await client.subscribe(uri)
      return () => client.unsubscribe(uri)
    },
    async watchTools() {},
    ping: () => client.ping(),
    requestUnknownMethod: () => client.request('nonsense/ask', {}),
    close: () => client.close(),
  }
}
