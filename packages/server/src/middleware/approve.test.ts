import {
  type CallToolRequestParams,
  type Context,
  type Exchange,
  type Handler,
  type InputRequiredResult,
  type JsonObject,
  type RequestMessage,
  type ResponseMessage,
  type Session,
  type SessionState,
  type Tool,
  withEnvelope,
} from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { type Endpoint, type Middleware, wrap } from '../middleware.ts'
import { createServer } from '../server.ts'
import { approve } from './approve.ts'

const tools: Tool[] = [
  { name: 'read', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  { name: 'drop', inputSchema: { type: 'object' }, title: 'Drop a table', annotations: { destructiveHint: true } },
  { name: 'plain', inputSchema: { type: 'object' } },
]

interface Asked {
  readonly method: string
  readonly params: { readonly message: string; readonly requestedSchema: unknown }
}
type Answer = (asked: Asked) => JsonObject

const form = { elicitation: { form: {} } }

/** A server of three tools, whose calls are written down. */
function createTarget(middlewares: Middleware[], run: (ctx: Context) => unknown = () => 'done') {
  const ran: string[] = []
  const handler: Required<Pick<Handler, 'listTools' | 'callTool'>> = {
    listTools: () => ({ tools }),
    async callTool({ name }, ctx) {
      const text = String(await run(ctx))
      ran.push(name)
      return { content: [{ type: 'text', text }] }
    },
  }
  const server = createServer({ name: 's', version: '1' }, handler)
  for (const middleware of middlewares) server.use(middleware)
  return { server, ran }
}

type Target = ReturnType<typeof createTarget>['server']
type Wire = (
  server: Target,
  params: JsonObject,
  answer: Answer,
  capabilities?: object,
  method?: string,
) => Promise<unknown>

const exchangeOf = (session?: Session): Exchange => ({
  signal: new AbortController().signal,
  auth: undefined,
  session,
  requestInfo: undefined,
  notify: () => {},
})

function resultOf(response: ResponseMessage | undefined): object {
  if (response === undefined) throw new Error('There is no answer')
  return 'result' in response ? response.result : response.error
}

/** Goes round until the call is complete. */
const callModern: Wire = async (server, params, answer, capabilities = form, method = 'tools/call') => {
  const envelope = { protocolVersion: '2026-07-28', clientCapabilities: capabilities as never }
  let more: JsonObject = {}
  for (let round = 0; round < 9; round++) {
    const message: RequestMessage = {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: withEnvelope({ ...params, ...more }, envelope as never),
    }
    const answered = resultOf(await server.respond(message, exchangeOf()))
    const { resultType, inputRequests = {}, requestState } = answered as Partial<InputRequiredResult>
    if (resultType !== 'input_required') return answered
    const answers = Object.entries(inputRequests).map(([key, asked]) => [key, answer(asked as Asked)])
    more = { inputResponses: Object.fromEntries(answers), ...(requestState && { requestState }) }
  }
  throw new Error('The call did not end')
}

const callLegacy: Wire = async (server, params, answer, capabilities = form, method = 'tools/call') => {
  const state = { revision: '2025-11-25', initialized: true, clientCapabilities: capabilities } as SessionState
  const session: Session = {
    id: 's',
    state,
    update: async (change) => change(state),
    request: async (asked, given) => answer({ method: asked, params: given } as Asked),
  }
  const message: RequestMessage = { jsonrpc: '2.0', id: 1, method, params }
  return resultOf(await server.respond(message, exchangeOf(session)))
}

describe.each<[string, Wire]>([
  ['modern', callModern],
  ['legacy', callLegacy],
])('approval in the %s era', (era, call) => {
  it('is requested once before a tool that may change data', async () => {
    const { server, ran } = createTarget([approve()])
    const asked: Asked[] = []
    const accept: Answer = (each) => {
      asked.push(each)
      return { action: 'accept', content: {} }
    }
    const result = await call(server, { name: 'drop', arguments: { table: 'users' } }, accept)
    expect(result).toMatchObject({ content: [{ text: 'done' }] })
    expect(ran).toEqual(['drop'])
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({
      method: 'elicitation/create',
      params: { requestedSchema: { type: 'object', properties: {} } },
    })
    expect(asked[0]?.params.message).toBe(
      'Run the tool "drop" (Drop a table) with these arguments?\n\n{\n  "table": "users"\n}',
    )
  })

  it.each(['decline', 'cancel'])('with the action %s prevents the tool from running', async (action) => {
    const { server, ran } = createTarget([approve()])
    const result = await call(server, { name: 'plain' }, () => ({ action }))
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('"plain" was not approved') }],
    })
    expect(ran).toEqual([])
  })

  it('is not requested for read-only tools, unknown tools and other requests', async () => {
    const { server, ran } = createTarget([approve()])
    const never: Answer = () => {
      throw new Error('asked')
    }
    expect(await call(server, { name: 'read' }, never)).toMatchObject({ content: [{ text: 'done' }] })
    await call(server, { name: 'nobody' }, never)
    expect(ran).toEqual(['read', 'nobody'])
    expect(await call(server, {}, never, form, 'tools/list')).toMatchObject({ tools })
  })

  it('fails for a client without elicitation, and the tool does not run', async () => {
    const { server, ran } = createTarget([approve()])
    const result = await call(server, { name: 'drop' }, () => ({ action: 'accept' }), {})
    if (era === 'modern')
      expect(result).toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } })
    else expect(result).toMatchObject({ isError: true })
    expect(ran).toEqual([])
  })

  it('is kept if the handler sends input requests with any key', async () => {
    let asks = 0
    const ask = () => {
      asks++
      return true
    }
    const { server, ran } = createTarget([approve({ ask }), approve({ key: 'second' })], async (ctx) => {
      const { action } = await ctx.elicit('approve', { message: 'own', schema: { type: 'object', properties: {} } })
      return action
    })
    const messages: string[] = []
    const result = await call(server, { name: 'drop' }, ({ params }) => {
      messages.push(params.message)
      return { action: params.message === 'own' ? 'decline' : 'accept', content: {} }
    })
    expect(result).toMatchObject({ content: [{ text: 'decline' }] })
    expect(messages).toHaveLength(2)
    expect(asks).toBe(1)
    expect(ran).toEqual(['drop'])
  })

  it('can use a custom function for selected tools', async () => {
    const heard: unknown[] = []
    const ask = async (each: CallToolRequestParams) => {
      heard.push(each.arguments)
      return each.arguments?.ok === true
    }
    const { server, ran } = createTarget([approve({ when: (tool) => tool.annotations?.destructiveHint, ask })])
    const never: Answer = () => ({})
    await call(server, { name: 'drop', arguments: { ok: false } }, never)
    await call(server, { name: 'drop', arguments: { ok: true } }, never)
    await call(server, { name: 'plain' }, never)
    expect(heard).toEqual([{ ok: false }, { ok: true }])
    expect(ran).toEqual(['drop', 'plain'])
  })

  it('may be decided by an input request', async () => {
    const { server, ran } = createTarget([
      approve({ ask: (_, ctx) => ctx.elicit('mine', { message: 'ok?', schema: { type: 'object', properties: {} } }) }),
    ])
    await call(server, { name: 'drop' }, () => ({ action: 'decline' }))
    expect(ran).toEqual([])
    await call(server, { name: 'drop' }, () => ({ action: 'accept', content: {} }))
    expect(ran).toEqual(['drop'])
  })

  it.each([
    [
      'when',
      {
        when: () => {
          throw new Error('secret')
        },
      },
    ],
    [
      'ask',
      {
        ask: () => {
          throw new Error('secret')
        },
      },
    ],
    ['ask, later', { ask: () => Promise.reject(new Error('secret')) }],
  ])('fails if `%s` throws, and the tool does not run', async (_, options) => {
    const { server, ran } = createTarget([approve(options)])
    const result = await call(server, { name: 'drop' }, () => ({ action: 'accept' }))
    expect(result).toMatchObject({ code: -32603 })
    expect(JSON.stringify(result)).not.toContain('secret')
    expect(ran).toEqual([])
  })
})

it('ignores requests that are not tool calls', async () => {
  const endpoint: Endpoint = ({ method }) => (method === 'tools/list' ? { tools } : { method })
  const request = { method: 'prompts/get', params: { name: 'drop' } }
  expect(await wrap([approve()], endpoint)(request, {} as Context)).toEqual({ method: 'prompts/get' })
})

describe('the message to the user', () => {
  const shown = async (args: JsonObject, options = {}) => {
    const { server } = createTarget([approve(options)])
    let message = ''
    await callModern(server, { name: 'drop', arguments: args }, ({ params }) => {
      message = params.message
      return { action: 'cancel' }
    })
    return message
  }

  it('indents no large values, because the indentation of deep ones takes more memory than they do', async () => {
    let deep: unknown = Array.from({ length: 40_000 }, () => 0)
    for (let depth = 0; depth < 100; depth++) deep = [deep]
    const message = await shown({ deep } as JsonObject)
    expect(message).toContain('{"deep":[[[')
    const omitted = Number(/ \((\d+) more characters\)$/.exec(message)?.[1])
    expect(omitted).toBeLessThan(100_000)
  })

  it('is bounded, and names the omitted length', async () => {
    const long = await shown({ a: 'x'.repeat(10_000), b: 'seen' })
    expect(long).toContain('… (9700 more characters)')
    expect(long).toContain('"b": "seen"')
    const many = await shown(Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`key${at}`, 'value'])))
    expect(many.length).toBeLessThan(2_200)
    expect(many).toMatch(/… \(\d+ more characters\)$/)
  })

  it('escapes invisible characters', async () => {
    const message = await shown({ path: 'a\u202Ecod.exe\u200B\u0007' })
    expect(message).toContain('a\\u{202e}cod.exe\\u{200b}\\u0007')
  })

  it('can have another introduction', async () => {
    expect(await shown({}, { message: 'Sure?' })).toBe('Sure?\n\n{}')
    expect(await shown({}, { message: (tool: Tool) => `${tool.title}?` })).toBe('Drop a table?\n\n{}')
  })
})
