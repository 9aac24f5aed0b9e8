import type { JsonObject } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { type Asked, scriptedServer } from '../test/scripted-server.ts'
import { connect } from './connect.ts'

const confirm = {
  method: 'elicitation/create',
  params: { message: 'Sure?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } },
}
const rootsList = { method: 'roots/list' }
const accept = () => ({ action: 'accept', content: { ok: true } }) as const

/** A server whose calls go through these rounds. */
function rounds(...results: ((asked: Asked) => object)[]) {
  let round = 0
  return scriptedServer('2026-07-28', {
    answers: {
      'tools/call': (asked) => (results[Math.min(round++, results.length - 1)] as (typeof results)[0])(asked),
    },
  })
}

const unfinished = (rest: object) => () => ({ resultType: 'input_required', ...rest })
const done = () => ({ content: [] })

function retried(server: ReturnType<typeof scriptedServer>, index: number): JsonObject {
  const { _meta, ...params } = (server.asked('tools/call')[index]?.params ?? {}) as JsonObject
  return params
}

describe('an unfinished call', () => {
  it('is sent again with all responses, the unchanged state and a new id [C-070, C-071, C-072]', async () => {
    const state = '  {"a":1}\u0000é\ud83d '
    const server = rounds(unfinished({ inputRequests: { '': confirm, r: rootsList }, requestState: state }), done)
    await using client = await connect(server, { onElicit: accept, roots: [{ uri: 'file:///a' }] })
    await client.callTool('book', { seat: 3 })
    expect(retried(server, 0)).toEqual({ name: 'book', arguments: { seat: 3 } })
    expect(retried(server, 1)).toEqual({
      name: 'book',
      arguments: { seat: 3 },
      inputResponses: { '': { action: 'accept', content: { ok: true } }, r: { roots: [{ uri: 'file:///a' }] } },
      requestState: state,
    })
    const [first, second] = server.asked('tools/call')
    expect(first?.id).not.toBe(second?.id)
  })

  it('sends only the responses and the state of the last round [C-071, C-075]', async () => {
    const server = rounds(
      unfinished({ inputRequests: { a: confirm }, requestState: 'one' }),
      unfinished({ inputRequests: { b: confirm } }),
      unfinished({ requestState: '' }),
      done,
    )
    await using client = await connect(server, { onElicit: accept })
    await client.callTool('book')
    const answer = { action: 'accept', content: { ok: true } }
    const call = { name: 'book', arguments: {} }
    expect(retried(server, 1)).toEqual({ ...call, inputResponses: { a: answer }, requestState: 'one' })
    expect(retried(server, 2)).toEqual({ ...call, inputResponses: { b: answer } })
    expect(retried(server, 3)).toEqual({ ...call, requestState: '' })
  })

  it('does not repeat responses that the caller sent itself', async () => {
    const server = rounds(unfinished({ inputRequests: { a: confirm } }), done)
    await using client = await connect(server, { onElicit: accept })
    await client.request('tools/call', { name: 'book', inputResponses: { z: {} }, requestState: 'mine' })
    expect(retried(server, 1)).toEqual({ name: 'book', inputResponses: { a: accept() } })
  })

  it('does not affect other calls [C-073]', async () => {
    const server = scriptedServer('2026-07-28', {
      answers: {
        'tools/call': ({ params }) =>
          params.name === 'plain' || params.inputResponses !== undefined
            ? done()
            : { resultType: 'input_required', inputRequests: { a: confirm }, requestState: `of ${params.name}` },
      },
    })
    await using client = await connect(server, {
      onElicit: async () => {
        await client.callTool('plain')
        return accept()
      },
    })
    await Promise.all([client.callTool('one'), client.callTool('two')])
    for (const { params } of server.asked('tools/call')) {
      if (params?.name === 'plain') expect(Object.keys(params)).toEqual(['name', 'arguments', '_meta'])
      else if (params?.requestState !== undefined) expect(params.requestState).toBe(`of ${params.name}`)
    }
  })

  it('fails when the client is closed while the user answers, and the form is closed', async () => {
    const server = rounds(unfinished({ inputRequests: { a: confirm } }), done)
    let isFormOpen = false
    const client = await connect(server, {
      onElicit: ({ signal }) => {
        isFormOpen = true
        signal.addEventListener('abort', () => {
          isFormOpen = false
        })
        return new Promise(() => {})
      },
    })
    const call = client.callTool('book').catch((error) => error)
    await expect.poll(() => isFormOpen).toBe(true)
    await client.close()
    expect(await call).toMatchObject({ reason: 'closed' })
    expect(isFormOpen).toBe(false)
  })

  it.each([undefined, 3, 'accept'])('fails when onInputRequest returns %j', async (response) => {
    const server = rounds(unfinished({ inputRequests: { a: confirm } }), done)
    await using client = await connect(server, { capabilities: { elicitation: {} } })
    await expect(client.callTool('book', {}, { onInputRequest: () => response as never })).rejects.toMatchObject({
      reason: 'cancelled',
      message: expect.stringContaining('onInputRequest: expected the response to elicitation/create, got'),
    })
    expect(server.asked('tools/call')).toHaveLength(1)
  })

  it('answers all input requests of a round concurrently', async () => {
    let waiting = 0
    let release: (() => void) | undefined
    const all = new Promise<void>((resolve) => {
      release = resolve
    })
    const server = rounds(unfinished({ inputRequests: { a: confirm, b: confirm } }), done)
    await using client = await connect(server, {
      onElicit: async () => {
        waiting += 1
        if (waiting === 2) release?.()
        await all
        return accept()
      },
    })
    await client.callTool('book')
  })

  it('without input requests is sent again after a delay [C-070]', async () => {
    const server = rounds(unfinished({ requestState: 'wait' }), done)
    await using client = await connect(server)
    const begun = performance.now()
    await client.callTool('book')
    expect(performance.now() - begun).toBeGreaterThan(200)
  })

  it('is given up after maxRounds [C-075]', async () => {
    const server = rounds(unfinished({ inputRequests: { a: confirm } }))
    await using client = await connect(server, { onElicit: accept, maxRounds: 3 })
    await expect(client.callTool('book')).rejects.toMatchObject({ name: 'ConnectionError', reason: 'limit' })
    expect(server.asked('tools/call')).toHaveLength(4)
  })

  it('is given up after maxTimeout [C-075]', async () => {
    const server = rounds(unfinished({ requestState: 's' }))
    await using client = await connect(server)
    const begun = performance.now()
    await expect(client.callTool('book', {}, { maxTimeout: 1_000 })).rejects.toMatchObject({ reason: 'timeout' })
    expect(performance.now() - begun).toBeLessThan(3_000)
    expect(server.asked('tools/call').length).toBeGreaterThan(1)
  })

  it('does not time out while the user answers [C-075]', async () => {
    const server = rounds(unfinished({ inputRequests: { a: confirm } }), done)
    await using client = await connect(server, {
      onElicit: () => new Promise((resolve) => setTimeout(() => resolve(accept()), 1_500)),
    })
    await client.callTool('book', {}, { timeout: 1_000, maxTimeout: 1_000 })
    expect(retried(server, 1)).toMatchObject({ inputResponses: { a: { action: 'accept' } } })
  })

  it('can be cancelled while the user answers', async () => {
    const stop = new AbortController()
    const server = rounds(unfinished({ inputRequests: { a: confirm } }))
    await using client = await connect(server, {
      onElicit: () => {
        stop.abort(new Error('enough'))
        return new Promise(() => {})
      },
    })
    await expect(client.callTool('book', {}, { signal: stop.signal })).rejects.toMatchObject({
      reason: 'cancelled',
      cause: { message: 'enough' },
    })
    expect(server.asked('tools/call')).toHaveLength(1)
  })

  it('is not sent again when a response is missing [C-070, C-074]', async () => {
    const server = rounds(unfinished({ inputRequests: { a: confirm, b: rootsList } }), done)
    await using client = await connect(server, { onElicit: accept })
    await expect(client.callTool('book')).rejects.toMatchObject({ reason: 'invalid-message' })
    expect(server.asked('tools/call')).toHaveLength(1)
  })

  it.each([
    ['neither questions nor a state', {}],
    ['a question of an unknown kind', { inputRequests: { a: { method: 'tools/list' } } }],
    ['a state that is not text', { requestState: { a: 1 } }],
  ])('must not have %s', async (_, rest) => {
    await using client = await connect(rounds(unfinished(rest)), { onElicit: accept })
    await expect(client.callTool('book')).rejects.toMatchObject({ reason: 'invalid-message' })
  })

  it.each([
    ['prompts/get', (client: Awaited<ReturnType<typeof connect>>) => client.getPrompt('p'), { messages: [] }],
    ['resources/read', (client: Awaited<ReturnType<typeof connect>>) => client.readResource('a:b'), { contents: [] }],
  ])('can be %s [C-076]', async (method, call, result) => {
    const server = scriptedServer('2026-07-28', {
      answers: {
        [method]: ({ params }) =>
          params.inputResponses === undefined
            ? { resultType: 'input_required', inputRequests: { a: confirm } }
            : { ttlMs: 60_000, ...result },
      },
    })
    await using client = await connect(server, { onElicit: accept })
    await call(client)
    await call(client)
    expect(server.asked(method)).toHaveLength(4)
  })

  it('is answered by the onInputRequest of the call', async () => {
    const server = rounds(unfinished({ inputRequests: { a: confirm } }), done)
    await using client = await connect(server)
    await client.callTool(
      'book',
      {},
      { onInputRequest: ({ method }) => (method === 'roots/list' ? { roots: [] } : accept()) },
    )
    expect(retried(server, 1)).toMatchObject({ inputResponses: { a: accept() } })
  })

  it('is returned as it is with input: "pass"', async () => {
    const server = rounds(unfinished({ inputRequests: { a: confirm }, requestState: 's' }))
    await using client = await connect(server)
    const capabilities = { elicitation: {} }
    const result = await client.request('tools/call', { name: 'book' }, { input: 'pass', capabilities })
    expect(result).toMatchObject({ resultType: 'input_required', requestState: 's', inputRequests: { a: confirm } })
    expect(server.asked('tools/call')[0]?.params?._meta).toMatchObject({
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    })
  })
})
