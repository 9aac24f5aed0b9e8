/** Our own client, driven. */

import { type Client, connect, createEraMemory } from '@mcpx/client'
import type { Change, CreateMessageResult, Revision } from '@mcpx/protocol'
import { http } from '@mcpx/transport-http/client'
import { spawn } from '@mcpx/transport-stdio'
import { answerForm, answerSampling, type Driver, folders, type Heard, nothingHeard, type Target } from '../driver.ts'

const info = { name: 'visitor', version: '1.0.0' }

export async function connectOurs(target: Target): Promise<Driver> {
  const heard = nothingHeard()
  const client = await connect(connector(target), {
    clientInfo: info,
    era: (target.revision as Revision | undefined) ?? 'auto',
    eraMemory: createEraMemory(),
    timeout: 5_000,
    onElicit: (ask) =>
      ask.mode === 'url' ? answerForm(heard, 'url', ask.message, ask.url) : answerForm(heard, 'form', ask.message),
    onSample: (params) => answerSampling(params) as CreateMessageResult,
    sampling: { tools: true },
    roots: target.roots ?? folders,
    onLog: ({ level, data, logger }) => void heard.logs.push({ level, data, ...(logger !== undefined && { logger }) }),
    onChange: (change) => hear(heard, change),
  })
  return drive(client, heard)
}

function connector({ carrier, url = '', command = [], env, fetch }: Target) {
  const [name = '', ...args] = command
  if (carrier === 'stdio') return spawn(name, args, { stderr: 'ignore', env, probeTimeout: 10_000 })
  return http(url, { fetch, reconnect: { minDelay: 10 } })
}

function hear(heard: Heard, change: Change): void {
  if (change.kind === 'resource') heard.updated.push(change.uri)
  else heard.lists.push(change.kind)
}

function drive(client: Client, heard: Heard): Driver {
  const { info: server, instructions } = client.server
  return {
    revision: client.revision,
    server: server ?? { name: '' },
    instructions,
    heard,
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
    nonsense: () => client.request('nonsense/ask', {}),
    close: () => client.close(),
  }
}
