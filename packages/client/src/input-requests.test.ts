import { type Change, type JsonObject, type Revision, RpcError, userRejected } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { type Asked, connectorTo, scriptedServer } from '../test/scripted-server.ts'
import { connect } from './connect.ts'
import type { ClientOptions, Elicitation } from './options.ts'

type Ask = { method: string; params?: JsonObject }

/** A legacy server whose tool sends an input request and returns the response. */
function askingLegacy(revision: Revision, ask: Ask) {
  return scriptedServer(revision, {
    answers: {
      'tools/call': async ({ exchange }) => {
        const session = exchange.session ?? fail()
        const structuredContent = await session.request(ask.method, ask.params ?? {}).then(
          (answer) => answer,
          ({ code, message }: RpcError) => ({ code, message }),
        )
        return { content: [], structuredContent }
      },
    },
  })
}

/** A modern server that does the same in its own way. */
function askingModern(ask: Ask) {
  return scriptedServer('2026-07-28', {
    answers: {
      'tools/call': ({ params }: Asked) => {
        const answers = params.inputResponses as JsonObject | undefined
        if (answers === undefined) return { resultType: 'input_required', inputRequests: { q: ask }, requestState: 's' }
        return { content: [], structuredContent: answers.q }
      },
    },
  })
}

function fail(): never {
  throw new Error('no session')
}

const form = (properties: object, required: string[] = []): Ask => ({
  method: 'elicitation/create',
  params: { message: 'Which seat?', requestedSchema: { type: 'object', properties, required } },
})
const url: Ask = { method: 'elicitation/create', params: { mode: 'url', message: 'Pay', url: 'https://pay.example' } }
const legacyUrl: Ask = { ...url, params: { ...url.params, elicitationId: 'e1' } }
const prompt: JsonObject = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 10 }
const sampling: Ask = { method: 'sampling/createMessage', params: prompt }
const roots: Ask = { method: 'roots/list' }
const said = { role: 'assistant', content: { type: 'text', text: 'Ho' }, model: 'm' } as const

/** The responses that the server received, in each era. */
async function answered(ask: Ask, options: ClientOptions, legacyAsk = ask): Promise<unknown[]> {
  const results: unknown[] = []
  for (const server of [askingLegacy('2025-11-25', legacyAsk), askingModern(ask)]) {
    await using client = await connect(server, options)
    results.push((await client.callTool('ask')).structuredContent)
  }
  return results
}

function both(answer: unknown): unknown[] {
  return [answer, answer]
}

/** The error that a legacy server receives, and the error of the caller of a modern server. */
async function refused(ask: Ask, options: ClientOptions): Promise<[unknown, unknown]> {
  await using older = await connect(askingLegacy('2025-11-25', ask), options)
  const told = (await older.callTool('ask')).structuredContent
  const server = askingModern(ask)
  await using newer = await connect(server, options)
  const error = await newer.callTool('ask').then(fail, (problem) => problem)
  expect(server.asked('tools/call')).toHaveLength(1)
  return [told, error]
}

describe('a form, in both eras', () => {
  it('is passed to onElicit with its origin', async () => {
    const asks: unknown[] = []
    const results = await answered(form({ row: { type: 'integer' } }), {
      onElicit: (ask) => {
        asks.push(ask)
        return { action: 'accept', content: { row: 3 } }
      },
    })
    expect(results).toEqual(both({ action: 'accept', content: { row: 3 } }))
    expect(asks).toHaveLength(2)
    for (const ask of asks) {
      expect(ask).toMatchObject({
        mode: 'form',
        message: 'Which seat?',
        schema: { properties: { row: { type: 'integer' } } },
        server: { name: 'scripted' },
        signal: expect.any(AbortSignal),
      })
    }
  })

  it('gets its defaults for missing values [C-113]', async () => {
    const fields = {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive'], default: 'active' },
      verified: { type: 'boolean', default: true },
      tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, default: ['a'] },
      note: { type: 'string' },
    }
    const results = await answered(form(fields, ['name']), {
      onElicit: () => ({ action: 'accept', content: { status: 'inactive' } }),
    })
    const content = { name: 'John Doe', age: 30, score: 95.5, status: 'inactive', verified: true, tags: ['a'] }
    expect(results).toEqual(both({ action: 'accept', content }))
    expect(
      await answered(form({ a: { type: 'string', default: 'x' } }), { onElicit: () => ({ action: 'accept' }) }),
    ).toEqual(both({ action: 'accept', content: { a: 'x' } }))
  })

  it.each(['decline', 'cancel'] as const)('with the action %s has no values [C-112]', async (action) => {
    expect(await answered(form({}), { onElicit: () => ({ action, content: { a: 1 } }) })).toEqual(both({ action }))
  })

  it('is not sent with values that do not fit [C-113]', async () => {
    const problems: Error[] = []
    const options: ClientOptions = {
      onElicit: () => ({ action: 'accept', content: { row: 'three' } }),
      onWarning: (problem) => problems.push(problem),
    }
    const [told, error] = await refused(form({ row: { type: 'integer' } }), options)
    const message = 'onElicit returned values that do not fit the form. content.row: expected integer, got string'
    // The server of the legacy era learns it, so that it can say it in its result.
    expect(told).toMatchObject({ code: -32603, message })
    expect(problems.map((problem) => problem.message)).toContain(message)
    expect(error).toMatchObject({ reason: 'cancelled', cause: { message } })
  })

  it('can come from an older revision', async () => {
    await using client = await connect(askingLegacy('2025-06-18', form({})), {
      onElicit: () => ({ action: 'accept' }),
    })
    expect((await client.callTool('ask')).structuredContent).toEqual({ action: 'accept', content: {} })
  })
})

describe('a URL, in both eras', () => {
  it('is passed to onElicit, and the response has no values [C-112]', async () => {
    const urls: string[] = []
    const results = await answered(
      url,
      {
        onElicit: (ask) => {
          if (ask.mode === 'url') urls.push(ask.url)
          return { action: 'accept', content: { a: 1 } }
        },
      },
      legacyUrl,
    )
    expect(results).toEqual(both({ action: 'accept' }))
    expect(urls).toEqual(['https://pay.example', 'https://pay.example'])
  })

  it('is refused when only forms were declared [C-077, C-110]', async () => {
    const options: ClientOptions = { elicitationModes: ['form'], onElicit: () => ({ action: 'accept' }) }
    const [, error] = await refused(url, options)
    await using older = await connect(askingLegacy('2025-11-25', legacyUrl), options)
    expect((await older.callTool('ask')).structuredContent).toMatchObject({ code: -32602 })
    expect(error).toMatchObject({ reason: 'invalid-message', message: expect.stringContaining('did not declare') })
  })

  it('is visited before a call that requires it is sent once more', async () => {
    let calls = 0
    const elicitations = [
      { mode: 'url', message: 'Pay', url: 'https://pay.example/1', elicitationId: '1' },
      { mode: 'url', message: 'Sign', url: 'https://pay.example/2', elicitationId: '2' },
    ]
    const server = scriptedServer('2025-11-25', {
      answers: {
        'tools/call': () => {
          calls += 1
          if (calls !== 2) throw new RpcError(-32042, 'Visit first', { data: { elicitations } })
          return { content: [] }
        },
      },
    })
    const urls: string[] = []
    let action: 'accept' | 'decline' = 'accept'
    await using client = await connect(server, {
      onElicit: (ask) => {
        if (ask.mode === 'url') urls.push(ask.url)
        return { action }
      },
    })
    await client.callTool('pay')
    expect(urls).toEqual(['https://pay.example/1', 'https://pay.example/2'])
    action = 'decline'
    await expect(client.callTool('pay')).rejects.toMatchObject({ code: -32042 })
    expect(calls).toBe(3)
    await using other = await connect(server)
    await expect(other.callTool('pay')).rejects.toMatchObject({ code: -32042 })
  })
})

describe('a legacy server that deviates from its revision', () => {
  it.each(['2024-11-05', '2025-03-26'] as const)(
    'may ask the user in a session of %s, with one warning',
    async (revision) => {
      const warnings: string[] = []
      const onWarning = ({ message }: Error) => void warnings.push(message)
      const onElicit = () => ({ action: 'accept', content: { row: 3 } }) as const
      const server = askingLegacy(revision, form({ row: { type: 'integer' } }))
      await using client = await connect(server, { onElicit, onWarning })
      for (let call = 0; call < 2; call += 1) {
        expect(await client.callTool('ask')).toMatchObject({
          structuredContent: { action: 'accept', content: { row: 3 } },
        })
      }
      expect(warnings).toEqual([`elicitation/create was answered although revision ${revision} does not have it`])
      await using other = await connect(askingLegacy(revision, form({})))
      expect(await other.callTool('ask')).toMatchObject({ structuredContent: { code: -32601 } })
    },
  )

  it('may ask the user to visit a URL without an elicitationId, with one warning', async () => {
    const warnings: string[] = []
    const onWarning = ({ message }: Error) => void warnings.push(message)
    const urls: unknown[] = []
    const onElicit = (ask: Elicitation) => {
      urls.push(ask.mode === 'url' && ask.url)
      return { action: 'accept' } as const
    }
    await using client = await connect(askingLegacy('2025-11-25', url), { onElicit, onWarning })
    for (let call = 0; call < 2; call += 1) {
      expect((await client.callTool('ask')).structuredContent).toEqual({ action: 'accept' })
    }
    expect(urls).toEqual(Array(2).fill('https://pay.example'))
    expect(warnings).toEqual([
      'elicitation/create was answered although the request does not conform to revision 2025-11-25: params.elicitationId: expected string, got nothing',
    ])
  })

  it('may announce list changes that it did not declare, with one warning', async () => {
    const warnings: string[] = []
    const changes: Change[] = []
    const connector = connectorTo(() => scriptedServer('2025-11-25', { capabilities: { tools: {} } }))
    await using _client = await connect(connector, {
      onChange: (change) => void changes.push(change),
      onWarning: ({ message }) => void warnings.push(message),
    })
    for (const list of ['tools', 'tools', 'prompts'])
      await connector.server.notify(`notifications/${list}/list_changed`)
    await expect.poll(() => changes).toEqual([{ kind: 'tools' }, { kind: 'tools' }, { kind: 'prompts' }])
    expect(warnings).toEqual([
      'The server sent notifications/tools/list_changed, but did not declare the capability tools.listChanged',
    ])
  })
})

describe('sampling, in both eras', () => {
  it('calls onSample', async () => {
    const seen: unknown[] = []
    const results = await answered(sampling, {
      onSample: (params) => {
        seen.push(params)
        return said
      },
    })
    expect(results).toEqual(both(said))
    expect(seen).toMatchObject(both(prompt))
  })

  it('that the user rejects is an error for a legacy server, and ends a modern call', async () => {
    const [told, error] = await refused(sampling, {
      onSample: () => {
        throw userRejected()
      },
    })
    expect(told).toMatchObject({ code: -1 })
    expect(error).toMatchObject({ name: 'ConnectionError', reason: 'cancelled', cause: { code: -1 } })
  })

  it('with tools is refused unless tools were declared', async () => {
    const ask = { ...sampling, params: { ...prompt, tools: [] } }
    const [told, error] = await refused(ask, { onSample: () => said })
    expect(told).toMatchObject({ code: -32602 })
    expect(error).toMatchObject({ reason: 'invalid-message' })
    expect(await answered(ask, { onSample: () => said, sampling: { tools: true } })).toEqual(both(said))
  })

  const use = (id: string) => ({ type: 'tool_use', id, name: 't', input: {} })
  const result = (toolUseId: string) => ({ type: 'tool_result', toolUseId, content: [] })
  it.each([
    [
      'results beside words',
      [
        { role: 'assistant', content: use('1') },
        { role: 'user', content: [result('1'), { type: 'text', text: 'x' }] },
      ],
    ],
    [
      'an unanswered use',
      [
        { role: 'assistant', content: use('1') },
        { role: 'user', content: { type: 'text', text: 'x' } },
      ],
    ],
    ['a use that is last', [{ role: 'assistant', content: use('1') }]],
    [
      'the result of another use',
      [
        { role: 'assistant', content: use('1') },
        { role: 'user', content: result('2') },
      ],
    ],
    [
      'one result for two uses',
      [
        { role: 'assistant', content: [use('1'), use('2')] },
        { role: 'user', content: result('1') },
      ],
    ],
    ['a use by the user', [{ role: 'user', content: use('1') }]],
  ])('with %s is refused [C-122]', async (_, messages) => {
    const ask = { ...sampling, params: { ...prompt, messages } }
    const [told] = await refused(ask, { onSample: () => said, sampling: { tools: true } })
    expect(told).toMatchObject({ code: -32602, message: expect.stringContaining('params.messages') })
  })

  it('with uses and their results goes through [C-122]', async () => {
    const messages = [
      { role: 'user', content: { type: 'text', text: 'x' } },
      { role: 'assistant', content: [use('1'), use('2')] },
      { role: 'user', content: [result('2'), result('1')] },
    ]
    const ask = { ...sampling, params: { ...prompt, messages } }
    expect(await answered(ask, { onSample: () => said, sampling: { tools: true } })).toEqual(both(said))
  })
})

describe('roots, in both eras', () => {
  it.each([
    ['file:///x', 'roots: expected an array of roots, or a function that returns one, got string'],
    [{ uri: 'file:///x' }, 'roots: expected an array of roots, or a function that returns one, got object'],
    [['file:///x'], 'roots[0]: expected { uri: "file:///x" }, got string'],
    [[{ uri: 'file:///x' }, new URL('file:///y')], 'roots[1]: expected { uri: "file:///y" }, got object'],
    [[null], 'roots[0]: expected { uri }, got null'],
    [[{ uri: 5 }], 'roots[0].uri: expected a file: URI, got number'],
  ])('are refused by name when connecting with %j', async (given, message) => {
    const connecting = connect(askingModern(roots), { roots: given as never })
    await expect(connecting).rejects.toThrow(new TypeError(message))
  })

  it('come from an array or from a function', async () => {
    const list = [{ uri: 'file:///work', name: 'work' }]
    expect(await answered(roots, { roots: list })).toEqual(both({ roots: list }))
    expect(await answered(roots, { roots: async () => list })).toEqual(both({ roots: list }))
  })

  it('must be file: URIs [C-130]', async () => {
    await expect(connect(askingModern(roots), { roots: [{ uri: 'https://example.com' }] })).rejects.toThrow(
      'roots[0].uri: expected a file: URI, got "https://example.com"',
    )
  })

  it('must be file: URIs when they come from a function, too [C-130]', async () => {
    const [told, error] = await refused(roots, { roots: () => [{ uri: 'file:/\u0000' }, { uri: 'http://x' }] })
    expect(told).toMatchObject({ code: -32603 })
    expect(error).toMatchObject({
      reason: 'cancelled',
      cause: { message: expect.stringContaining('expected a file: URI') },
    })
  })

  it('that change are announced to legacy servers only', async () => {
    const older = askingLegacy('2025-11-25', roots)
    await using client = await connect(older, { roots: [] })
    await client.notifyRootsChanged()
    await expect.poll(() => older.heard.at(-1)?.method).toBe('notifications/roots/list_changed')
    const newer = askingModern(roots)
    await using other = await connect(newer, { roots: [] })
    await other.notifyRootsChanged()
    expect(newer.heard).toHaveLength(1)
  })
})

describe('an undeclared input request, in both eras', () => {
  it.each([
    ['a form', form({})],
    ['sampling', sampling],
    ['roots', roots],
  ])('is refused: %s [C-077]', async (_, ask) => {
    const [told, error] = await refused(ask, {})
    expect(told).toMatchObject({ code: -32601 })
    expect(error).toMatchObject({ name: 'ConnectionError', reason: 'invalid-message' })
  })

  it('is not among the capabilities [C-003]', async () => {
    const server = askingLegacy('2025-11-25', roots)
    await using _ = await connect(server, { onElicit: () => ({ action: 'cancel' }), elicitationModes: ['url'] })
    await using _other = await connect(server, {
      onSample: () => said,
      sampling: { tools: true },
      capabilities: { extensions: { 'com.example/x': {} } },
    })
    expect(server.asked('initialize').map(({ params }) => params?.capabilities)).toEqual([
      { elicitation: { url: {} } },
      { sampling: { tools: {} }, extensions: { 'com.example/x': {} } },
    ])
  })
})

describe('a legacy server', () => {
  it('can ping, and send no undeclared or malformed requests', async () => {
    const answers: unknown[] = []
    const server = scriptedServer('2025-11-25', {
      answers: {
        'tools/call': async ({ exchange }) => {
          const ask = (method: string, params = {}) =>
            exchange.session?.request(method, params).catch(({ code }: RpcError) => code)
          answers.push(await ask('ping'), await ask('tools/list'), await ask('constructor'))
          answers.push(await ask('elicitation/create', { message: 1 }))
          return { content: [] }
        },
      },
    })
    await using client = await connect(server, { onElicit: () => ({ action: 'accept' }) })
    await client.callTool('ask')
    expect(answers).toEqual([{}, -32601, -32601, -32602])
  })

  it('can cancel an input request', async () => {
    let signal: AbortSignal | undefined
    const server = scriptedServer('2025-11-25', {
      answers: {
        'tools/call': async ({ exchange }) => {
          const stop = new AbortController()
          const asked = exchange.session?.request('elicitation/create', form({}).params ?? {}, { signal: stop.signal })
          setTimeout(() => stop.abort(), 10)
          await asked?.catch(() => {})
          return { content: [] }
        },
      },
    })
    await using client = await connect(server, {
      onElicit: (ask) => {
        signal = ask.signal
        return new Promise(() => {})
      },
    })
    await client.callTool('ask')
    await expect.poll(() => signal?.aborted).toBe(true)
  })
})

describe('a callback that returns an invalid value, in both eras', () => {
  const expected = 'expected { action: "accept", content }, { action: "decline" } or { action: "cancel" }'

  it.each([
    ['an unknown action', () => ({ action: 'yes' }), `onElicit: ${expected}, got the action "yes"`],
    ['nothing', () => undefined, `onElicit: ${expected}, got nothing`],
    ['a word', () => 'accept', `onElicit: ${expected}, got string`],
  ])('is named in the error: onElicit returns %s', async (_, onElicit, message) => {
    for (const ask of [form({}), url]) {
      const problems: string[] = []
      const options = { onElicit, onWarning: (problem: Error) => problems.push(problem.message) } as ClientOptions
      const [, error] = await refused(ask, options)
      expect(error).toMatchObject({
        name: 'ConnectionError',
        reason: 'cancelled',
        message: `tools/call "ask" cannot continue: elicitation/create failed. ${message}`,
        hint: 'Correct the value that onElicit returns.',
      })
      if (ask !== url) expect(problems).toContain(message)
    }
  })

  it('is named in the error: onSample and roots', async () => {
    const [, sampled] = await refused(sampling, { onSample: () => ({ role: 'assistant' }) as never })
    expect(sampled).toMatchObject({ message: expect.stringContaining('onSample returned an invalid message. message') })
    const [, listed] = await refused(roots, { roots: () => undefined as never })
    expect(listed).toMatchObject({
      message: expect.stringContaining('roots: expected a function that returns an array, got nothing'),
    })
  })

  it('can throw an error, which is only the cause of the error of the call', async () => {
    const [, error] = await refused(roots, {
      roots() {
        throw new Error('secret')
      },
    })
    expect(error).toMatchObject({
      message: 'tools/call "ask" cannot continue: roots/list failed',
      hint: 'The cause is the error that roots threw.',
      cause: { message: 'secret' },
    })
  })
})

describe('a server that requires a missing callback', () => {
  it('causes an error that names the option', async () => {
    const [, error] = await refused(form({}), {})
    expect(error).toMatchObject({ reason: 'invalid-message', hint: 'Pass onElicit to connect.' })
    const data = { requiredCapabilities: { elicitation: { form: {} }, roots: {} } }
    const server = scriptedServer('2026-07-28', {
      answers: {
        'tools/call': () => {
          throw new RpcError(-32021, 'The client must declare: elicitation.form, roots', { data })
        },
      },
    })
    await using client = await connect(server)
    await expect(client.callTool('ask')).rejects.toMatchObject({
      code: -32021,
      message: 'The client must declare: elicitation.form, roots. Pass onElicit and roots to connect',
      data,
    })
    const forwarded = client.request('tools/call', { name: 'ask' }, { capabilities: {} })
    await expect(forwarded).rejects.toMatchObject({ message: 'The client must declare: elicitation.form, roots' })
  })
})

describe('a URL elicitation', () => {
  const ask = (to: string): Ask => ({ ...url, params: { ...url.params, url: to, elicitationId: 'e1' } })

  it.each(['javascript:alert(1)', 'file:///etc/passwd', 'http://pay.example/', 'data:text/html,x'])(
    'is declined before onElicit sees %s',
    async (to) => {
      const warnings: string[] = []
      const asked: unknown[] = []
      const options: ClientOptions = {
        onElicit: (each) => {
          asked.push(each)
          return { action: 'accept' }
        },
        onWarning: ({ message }) => void warnings.push(message),
      }
      expect(await answered(ask(to), options)).toEqual([{ action: 'decline' }, { action: 'decline' }])
      expect(asked).toEqual([])
      expect(warnings).toEqual(Array(2).fill(expect.stringContaining('params.url: expected https:')))
    },
  )

  it.each(['https://pay.example/', 'http://localhost:3000/', 'http://127.0.0.1/', 'http://[::1]:8/'])(
    'reaches onElicit with %s',
    async (to) => {
      const accepted = { action: 'accept' }
      expect(await answered(ask(to), { onElicit: () => ({ action: 'accept' }) })).toEqual([accepted, accepted])
    },
  )

  it('reaches onElicit with the URLs that allowUrl allows', async () => {
    const options: ClientOptions = {
      onElicit: () => ({ action: 'accept' }),
      allowUrl: ({ protocol }) => protocol === 'vscode:',
    }
    expect(await answered(ask('vscode://x'), options)).toEqual([{ action: 'accept' }, { action: 'accept' }])
    expect(await answered(ask('https://x.example'), options)).toEqual([{ action: 'decline' }, { action: 'decline' }])
  })
})

describe('many input requests at once', () => {
  /** Counts how many run at once. */
  function counting() {
    const counts = { running: 0, most: 0, total: 0 }
    const onElicit = async () => {
      counts.total += 1
      counts.running += 1
      counts.most = Math.max(counts.most, counts.running)
      await new Promise((resolve) => setTimeout(resolve, 1))
      counts.running -= 1
      return { action: 'decline' } as const
    }
    return { counts, onElicit }
  }

  function askingOften(count: number) {
    return scriptedServer('2025-11-25', {
      answers: {
        'tools/call': async ({ exchange }) => {
          const asks = Array.from({ length: count }, () =>
            exchange.session?.request('elicitation/create', form({}).params),
          )
          const results = await Promise.allSettled(asks)
          const refused = results.flatMap((each) => (each.status === 'rejected' ? [each.reason.message] : []))
          return { content: [], structuredContent: { refused: refused.length, why: refused[0] ?? '' } }
        },
      },
    })
  }

  it('are answered 16 at a time, and refused beyond 100 of a legacy server', async () => {
    const { counts, onElicit } = counting()
    const warnings: string[] = []
    await using client = await connect(askingOften(300), {
      onElicit,
      onWarning: ({ message }) => void warnings.push(message),
    })
    const refusal = 'elicitation/create was refused: 100 input requests are waiting for a response already'
    const { structuredContent } = await client.callTool('ask')
    expect(structuredContent).toEqual({ refused: 200, why: refusal })
    expect(counts).toMatchObject({ most: 16, total: 100 })
    expect(warnings).toEqual(Array(200).fill(refusal))
    expect(await client.callTool('ask')).toMatchObject({ structuredContent: { refused: 200 } })
  })

  it('of a legacy server are refused beyond maxRounds times maxInputRequests since the last call', async () => {
    const server = scriptedServer('2025-11-25', {
      answers: {
        'tools/call': async ({ exchange }) => {
          let answered = 0
          try {
            for (; answered < 50; answered += 1) await exchange.session?.request('elicitation/create', form({}).params)
          } catch (error) {
            return { content: [], structuredContent: { answered, why: (error as Error).message } }
          }
          return { content: [], structuredContent: { answered } }
        },
      },
    })
    const warnings: Error[] = []
    const onElicit = () => ({ action: 'decline' }) as const
    const onWarning = (warning: Error) => void warnings.push(warning)
    await using client = await connect(server, { onElicit, onWarning, maxRounds: 4, maxInputRequests: 5 })
    const why = 'elicitation/create was refused: the server has already sent 20 input requests'
    for (let call = 0; call < 2; call += 1) {
      const { structuredContent } = await client.callTool('ask')
      expect(structuredContent).toEqual({ answered: 20, why })
    }
    expect(warnings).toMatchObject(Array(2).fill({ reason: 'limit', message: why }))
    await using other = await connect(server, { onElicit })
    expect(await other.callTool('ask')).toMatchObject({ structuredContent: { answered: 50 } })
  })

  it('are answered 16 at a time in a round of a modern call, which fails beyond 100', async () => {
    const server = (count: number) =>
      scriptedServer('2026-07-28', {
        answers: {
          'tools/call': ({ params }) => {
            if (params.inputResponses !== undefined) return { content: [] }
            const inputRequests = Object.fromEntries(Array.from({ length: count }, (_, index) => [index, form({})]))
            return { resultType: 'input_required', inputRequests }
          },
        },
      })
    const { counts, onElicit } = counting()
    await using client = await connect(server(100), { onElicit })
    await client.callTool('ask')
    expect(counts).toMatchObject({ most: 16, total: 100 })
    await using flooded = await connect(server(101), { onElicit })
    await expect(flooded.callTool('ask')).rejects.toMatchObject({
      reason: 'limit',
      message: 'tools/call "ask": expected at most 100 input requests, got 101',
    })
    expect(counts.total).toBe(100)
    await using patient = await connect(server(101), { onElicit, maxInputRequests: 101 })
    await patient.callTool('ask')
  })

  it('leave room for others when a callback never returns and the server cancels', async () => {
    const server = scriptedServer('2025-11-25', {
      answers: {
        'tools/call': async ({ exchange }) => {
          const ask = (timeout: number) => exchange.session?.request('elicitation/create', form({}).params, { timeout })
          await Promise.allSettled(Array.from({ length: 16 }, () => ask(20)))
          return { content: [], structuredContent: await ask(1_000) }
        },
      },
    })
    let count = 0
    const onElicit = () => (count++ < 16 ? new Promise<never>(() => {}) : { action: 'decline' as const })
    const warnings: Error[] = []
    await using client = await connect(server, { onElicit, onWarning: (warning) => void warnings.push(warning) })
    expect(await client.callTool('ask')).toMatchObject({ structuredContent: { action: 'decline' } })
    expect(warnings).toEqual([])
  })
})

describe('a call whose onInputRequest returns no response', () => {
  it('is not answered by a value of another shape', async () => {
    const warnings: string[] = []
    await using client = await connect(askingLegacy('2025-11-25', form({})), {
      capabilities: { elicitation: {} },
      onWarning: ({ message }) => void warnings.push(message),
    })
    const { structuredContent } = await client.callTool('ask', {}, { onInputRequest: () => 3 as never })
    const message = 'onInputRequest: expected the response to elicitation/create, got number'
    expect(structuredContent).toEqual({ code: -32603, message })
    expect(warnings).toEqual([message])
  })
})
