/** The clients of the official SDK, of both lines, driven: what they have in common. */

import type { JsonObject } from '@mcpx/protocol'
import type { CallOptions, Driver, Heard } from '../driver.ts'

export const info = { name: 'visitor', version: '1.0.0' }
export const capabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: { listChanged: true },
}

export type Handle = (request: { params?: object }) => unknown

/** As far as both lines of the client are alike. */
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

/** What the lines do differently. */
export interface Differences {
  readonly revision: string
  call(params: JsonObject & { name: string }, options: CallOptions): Promise<object>
  request(method: string): Promise<unknown>
  setLogLevel?(level: string): Promise<void>
  watch?(uri: string): Promise<() => Promise<void>>
  watchTools?(): Promise<void>
}

/** What servers say unasked, by method, and what becomes of it. */
export function listeners(heard: Heard): Readonly<Record<string, Handle>> {
  const list = (name: string) => [`notifications/${name}/list_changed`, () => void heard.lists.push(name)] as const
  return {
    'notifications/message': ({ params }) => void heard.logs.push(params as Heard['logs'][number]),
    'notifications/resources/updated': ({ params }) => void heard.updated.push((params as { uri: string }).uri),
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

export function drive(client: OfficialClient, heard: Heard, differences: Differences): Driver {
  return {
    revision: differences.revision,
    server: client.getServerVersion() ?? { name: '' },
    instructions: client.getInstructions(),
    heard,
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
    ping: async () => void (await client.ping()),
    nonsense: () => differences.request('nonsense/ask'),
    close: () => client.close(),
  }
}
