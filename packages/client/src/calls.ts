/** The calls of a client: the methods that both eras have. */

import type {
  CallToolResult,
  CompleteResult,
  GetPromptResult,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  ReadResourceResult,
} from '@mcpx/protocol'
import type { Client } from './client.ts'
import type { Core } from './core.ts'
import type { LinkKeeper } from './link-keeper.ts'
import type { CallOptions } from './options.ts'
import { createOutputCheck } from './output-check.ts'
import { createListing } from './pagination.ts'
import { createRequests } from './requests.ts'

type Calls = Pick<
  Client,
  | 'request'
  | 'listTools'
  | 'callTool'
  | 'listResources'
  | 'listResourceTemplates'
  | 'readResource'
  | 'listPrompts'
  | 'getPrompt'
  | 'complete'
>

/** The list methods, and where the items of a page are. */
interface Lists {
  'tools/list': ListToolsResult
  'resources/list': ListResourcesResult
  'resources/templates/list': ListResourceTemplatesResult
  'prompts/list': ListPromptsResult
}

/** Without types, all is easily put into one object. */
const wrongFirst = async (form: string, first: unknown) => (await import('./given.ts')).wrongFirst(form, first)

export function createCalls(core: Core, keeper: LinkKeeper): Calls {
  const output = createOutputCheck(core.report)
  const request = createRequests(core, keeper)

  function list<Method extends keyof Lists, Item>(
    method: Method,
    itemsOf: (page: Lists[Method]) => readonly Item[],
    options: CallOptions = {},
  ) {
    return createListing<Item>({
      method,
      maxPages: core.options.maxPages ?? 1_000,
      fetch: (params) => request(method, params, options),
      itemsOf: (page) => itemsOf(page as Lists[Method]),
      onStale: () => core.cache.drop(method),
    })
  }

  return {
    // One function for both signatures: the types of a method are not known here.
    request: ((method: string, params = {}, options = {}) => request(method, params, options)) as Client['request'],
    listTools: (options) =>
      list(
        'tools/list',
        ({ tools }) => {
          output.learn(tools)
          return tools
        },
        options,
      ),
    async callTool(name, args, options = {}) {
      if (typeof name !== 'string') throw await wrongFirst('callTool(name, args)', name)
      const params = args === undefined ? { name } : { name, arguments: args }
      const result = (await request('tools/call', params, options)) as unknown as CallToolResult
      return output.check(name, result)
    },
    listResources: (options) => list('resources/list', (page) => page.resources, options),
    listResourceTemplates: (options) => list('resources/templates/list', (page) => page.resourceTemplates, options),
    async readResource(uri, options = {}) {
      if (typeof uri !== 'string') throw await wrongFirst('readResource(uri)', uri)
      return (await request('resources/read', { uri }, options)) as unknown as ReadResourceResult
    },
    listPrompts: (options) => list('prompts/list', (page) => page.prompts, options),
    async getPrompt(name, args, options = {}) {
      if (typeof name !== 'string') throw await wrongFirst('getPrompt(name, args)', name)
      const params = args === undefined ? { name } : { name, arguments: args }
      return (await request('prompts/get', params, options)) as unknown as GetPromptResult
    },
    async complete(params, options = {}) {
      return (await request('completion/complete', params, options)) as unknown as CompleteResult
    },
  }
}
