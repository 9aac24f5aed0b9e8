/** The common part of the drivers for the clients of the official SDK 1.x and 2.x. */

import type { JsonObject } from '@mcpx/protocol'
import type { CallOptions, Driver, ReceivedMessages } from '../driver.ts'

export const info = { name: 'visitor', version: '1.0.0' }
export const capabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: { listChanged: true },
}

export type Handle = (request: { params?: object }) => unknown

/** The members that the clients of both versions share. */
export interface OfficialClient {
  connect(transport: unknown): Promise<void>
  close(): Promise<void>
  getServerVersion(): { name: string } | undefined
  getInstructions(): string | undefined
  listTools(params?: object): Promise<object>
  listResources(params?: object): Promise<object>
  listResourceTemplates(params?: object): Promise<object>
  listPrompts(params?: object): Promise<object>
  readResource(params: object): Promise<object>
  getPrompt(params: object): Promise<object>
  complete(params: object): Promise<object>
  setLoggingLevel(level: string): Promise<object>
  subscribeResource(params: object): Promise<object>
  unsubscribeResource(params: object): Promise<object>
  ping(): Promise<object>
}

/** The differences of a version. */
export interface Differences {
  readonly revision: string
  call(params: JsonObject & { name: string }, options: CallOptions): Promise<object>
  request(method: string): Promise<unknown>
  setLogLevel?(level: string): Promise<void>
  watch?(uri: string): Promise<() => Promise<void>>
  watchTools?(): Promise<void>
  listen?(uris: readonly string[]): Promise<{ readonly closed: Promise<unknown> }>
}

/** The handlers of notifications, by method. */
export function listeners(received: ReceivedMessages): Readonly<Record<string, Handle>> {
  const list = (name: string) => [`notifications/${name}/list_changed`, () => void received.lists.push(name)] as const
  return {
    'notifications/message': ({ params }) => void received.logs.push(params as ReceivedMessages['logs'][number]),
    'notifications/resources/updated': ({ params }) => void received.updated.push((params as { uri: string }).uri),
    ...Object.fromEntries([list('tools'), list('resources'), list('prompts')]),
  }
}

type Page = { nextCursor?: string }

async function all(key: string, list: (params?: object) => Promise<object>): Promise<never> {
  const items: unknown[] = []
  let cursor: string | undefined
  do {
    const page = (await list(cursor === undefined ? undefined : { cursor })) as Page & Record<string, unknown[]>
    items.push(...(page[key] ?? []))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return items as never
}

export function drive(client: OfficialClient, received: ReceivedMessages, differences: Differences): Driver {
  return {
    revision: differences.revision,
    server: client.getServerVersion() ?? { name: '' },
    instructions: client.getInstructions(),
    received,
    listTools: () => all('tools', (params) => client.listTools(params)),
    callTool: (name, args = {}, options = {}) => differences.call({ name, arguments: args }, options) as Promise<never>,
    listResources: () => all('resources', (params) => client.listResources(params)),
    listTemplates: () => all('resourceTemplates', (params) => client.listResourceTemplates(params)),
    readResource: (uri) => client.readResource({ uri }) as Promise<never>,
    listPrompts: () => all('prompts', (params) => client.listPrompts(params)),
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }) as Promise<never>,
    complete: (params) => client.complete(params) as Promise<never>,
    setLogLevel: differences.setLogLevel ?? (async (level) => void (await client.setLoggingLevel(level))),
    watch:
      differences.watch ??
      (async (uri) => {
        await client.subscribeResource({ uri })
        return async () => void (await client.unsubscribeResource({ uri }))
      }),
    watchTools: differences.watchTools ?? (async () => {}),
    listen:
      differences.listen ??
      (async (uris) => {
        for (const uri of uris) await client.subscribeResource({ uri })
        return {}
      }),
    ping: async () => void (await client.ping()),
    requestUnknownMethod: () => differences.request('nonsense/ask'),
    close: () => client.close(),
  }
}
