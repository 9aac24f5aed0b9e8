import { AssertionError } from 'node:assert'
import { memoryConnector } from '@mcpx/protocol/memory'
import { describe, expect, it } from 'vitest'
import { catchError } from '../timing.ts'
import '../vitest.ts'
import { answers } from './answers.ts'
import { faults } from './faults.ts'
import { verify } from './matchers.ts'
import { createTest, testServer } from './test-server.ts'
import { createTravelServer } from './travel.fixture.ts'

const server = createTravelServer()
function catchSync(call: () => void): Error {
  try {
    call()
  } catch (error) {
    return error as Error
  }
  throw new Error('expected an error')
}
const messageOf = async (call: () => Promise<unknown>) => ((await catchError(call)) as Error).message

describe('testServer', () => {
  it('runs the test in both eras', async () => {
    const runs: string[] = []
    await testServer(server, async ({ client, era, transport }) => {
      runs.push(`${era} ${client.revision} ${transport}`)
      expect(await client.tools.add({ a: 1, b: 2 })).toEqual({ sum: 3 })
    })
    expect(runs).toEqual(['modern 2026-07-28 memory', 'legacy 2025-11-25 memory'])
  })

  it('runs it in the revisions and over the transports of the options, each time with a new server', async () => {
    const servers = new Set<unknown>()
    const runs: string[] = []
    const transports = { first: memoryConnector, second: async (each: typeof server) => memoryConnector(each) }
    await testServer(createTravelServer, { eras: ['2024-11-05', 'modern'], transports }, ({ server: each, ...run }) => {
      servers.add(each)
      runs.push(`${run.client.revision} ${run.transport}`)
    })
    expect(runs).toEqual(['2024-11-05 first', '2026-07-28 first', '2024-11-05 second', '2026-07-28 second'])
    expect(servers.size).toBe(4)
  })

  it('answers the questions of the server, and shows them and the progress', async () => {
    const user = answers({ terms: {}, seat: { row: 7 } })
    await testServer(server, { answers: user }, async (test) => {
      expect(await test.client.callTool('book', { to: 'Oslo' })).toHaveText('Row 7 to Oslo')
      expect(test).toHaveAsked('seat')
      expect(test).toHaveAsked(/accept the terms/)
      expect(test).not.toHaveAsked('insurance')
      expect(test).toHaveReported('looking for seats')
      expect(test).not.toHaveReported('paying')
      expect(test.asked.map(({ name, message }) => [name, message])).toEqual([
        ['seat', 'Which row?'],
        ['terms', 'Do you accept the terms?'],
      ])
    })
  })

  it('answers as the model', async () => {
    const user = answers({}, { model: ['An ode.'] })
    await testServer(server, { answers: user }, async (test) => {
      expect(await test.client.callTool('write', { topic: 'trains' })).toHaveText('An ode.')
      expect(test).toHaveAsked('Write about trains')
    })
  })

  it('names the era and the transport of a failure, and keeps the difference', async () => {
    const error = (await catchError(() =>
      testServer(server, { eras: ['legacy'] }, () => expect(1).toBe(2)),
    )) as Error & { expected?: unknown; actual?: unknown }
    expect(error.message).toMatch(/^legacy over memory: expected 1 to be 2/)
    expect([error.actual, error.expected]).toEqual([1, 2])
  })

  it('names the era in the stack, which node:test prints', async () => {
    const failure = new AssertionError({ message: 'one $& two' })
    const error = (await catchError(() => testServer(server, () => Promise.reject(failure)))) as Error
    expect(error).toBe(failure)
    expect(error.stack).toContain(': modern over memory: one $& two\n    at ')
  })

  it.each([
    ['a DOMException', new DOMException('too late', 'TimeoutError')],
    ['a frozen error', Object.freeze(new Error('too late'))],
  ])('names the era of %s, whose message is read-only', async (_, cause) => {
    const error = await catchError(() => testServer(server, () => Promise.reject(cause)))
    expect(error).toMatchObject({ message: 'modern over memory: too late', cause })
  })

  it('fails for a question without an answer, whatever the test expects', async () => {
    const message = await messageOf(() =>
      testServer(server, { answers: answers({ other: { colour: 'red' } }) }, ({ client }) =>
        client.callTool('book', { to: 'Oslo' }).catch(() => {}),
      ),
    )
    expect(message).toBe(
      'modern over memory: answers: expected a scripted answer for the question "Which row?" (fields: row); left: "other"',
    )
  })

  it.each([
    ['an answer', answers({ seat: () => expect(1).toBe(2) as never }), 'book', { to: 'Oslo' }],
    ['the model', answers({}, { model: () => expect(1).toBe(2) as never }), 'write', { topic: 'trains' }],
  ] as const)('fails for a failed assertion in %s', async (_, user, tool, args) => {
    const run = () =>
      testServer(server, { answers: user }, async ({ client }) => {
        expect(await client.callTool(tool, args)).toHaveText('Row 7')
      })
    expect(await messageOf(run)).toMatch(/^modern over memory: expected 1 to be 2/)
  })

  it('fails for a function that returns another value', async () => {
    const user = answers({ seat: () => 'yes' as never })
    const run = () => testServer(server, { answers: user }, ({ client }) => client.callTool('book', { to: 'Oslo' }))
    expect(await messageOf(run)).toBe(
      'modern over memory: answers: seat, the returned answer: expected the values of a form, accept, decline, cancel or a function, got "yes"; none is left',
    )
  })

  it('fails for an answer that was not used', async () => {
    const message = await messageOf(() => testServer(server, { answers: answers({ seat: { row: 1 } }) }, () => {}))
    expect(message).toBe('modern over memory: answers: expected questions for seat, got none')
  })

  it('closes the client when the test fails', async () => {
    let closed: Promise<unknown> | undefined
    await catchError(() =>
      testServer(server, ({ client }) => {
        closed = catchError(() => client.callTool('slow'))
        throw new Error('no')
      }),
    )
    expect(await closed).toMatchObject({ name: 'ConnectionError' })
  })

  it.each([
    [{ era: 'modern' }, 'testServer: there is no option "era"; did you mean "eras"?'],
    [{ eras: [] }, 'testServer, eras: expected at least one era, got none'],
    [{ eras: 'modern' }, "testServer, eras: expected an array such as ['modern'], got string"],
    [{ answers: { seat: 'accept' } }, 'testServer, answers: expected the result of answers(script), got object'],
    [{ transports: {} }, 'testServer, transports: expected at least one transport, got none'],
    [{ transports: { http: 'http://x' } }, 'transports.http: expected a function that returns a connector, got string'],
    [
      { transports: { http: () => 'http://x' } },
      'http, the transport: expected a server or a connector, got string; pass http("http://x") or spawn(command, args)',
    ],
    [{ eras: ['newest'] }, 'newest over memory: era: expected auto, modern, legacy or one of'],
  ])('refuses the options %j', async (options, problem) => {
    expect(await messageOf(() => testServer(server, options as never, () => {}))).toContain(problem)
  })
})

describe('createTest', () => {
  /** Collects the registered tests. */
  function createRunner() {
    const tests = new Map<string, () => Promise<void>>()
    const register = (name: string, run: () => Promise<void>) => void tests.set(name, run)
    return { tests, register }
  }

  it('registers a test per era and transport, whose names end with both', async () => {
    const { tests, register } = createRunner()
    const runs: string[] = []
    const transports = { first: memoryConnector, second: memoryConnector }
    const test = createTest(register, server, { transports })
    test('adds', async ({ client, era, transport }) => {
      runs.push(`${era} ${transport}`)
      expect(await client.tools.add({ a: 1, b: 2 })).toEqual({ sum: 3 })
    })
    test('books', { eras: ['2025-06-18'], answers: answers({ seat: 'decline' }) }, async (run) => {
      expect(await run.client.callTool('book', { to: 'Oslo' })).toHaveText('Nothing')
      runs.push(run.client.revision)
    })
    expect([...tests.keys()]).toEqual([
      'adds (modern over first)',
      'adds (legacy over first)',
      'adds (modern over second)',
      'adds (legacy over second)',
      'books (2025-06-18 over first)',
      'books (2025-06-18 over second)',
    ])
    for (const run of tests.values()) await run()
    expect(runs).toEqual(['modern first', 'legacy first', 'modern second', 'legacy second', '2025-06-18', '2025-06-18'])
  })

  it('fails with the error of the test, and with the seed of faults', async () => {
    const { tests, register } = createRunner()
    const test = createTest(register, server, { eras: ['modern'] })
    test('fails', () => expect(1).toBe(2))
    const flaky = (each: typeof server) => faults(memoryConnector(each), { cut: 1, seed: 77 })
    test('is cut', { transports: { flaky } }, ({ client }) => client.callTool('add', { a: 1, b: 2 }))
    const [plain, cut] = [...tests.values()]
    expect(await messageOf(() => plain?.() as Promise<void>)).toMatch(/^expected 1 to be 2/)
    expect(await messageOf(() => cut?.() as Promise<void>)).toMatch(
      /^faults with seed 77: .*was cut during tools\/call/,
    )
  })

  it('refuses wrong options when it is created, and when a test is registered', () => {
    const { register } = createRunner()
    expect(() => createTest(register, server, { era: 'modern' } as never)).toThrow(
      'createTest: there is no option "era"; did you mean "eras"?',
    )
    const test = createTest(register, server)
    expect(() => test('adds', { eras: [] }, () => {})).toThrow('adds, eras: expected at least one era, got none')
  })
})

it('refuses what is no server, no test and no test runner', async () => {
  expect(await messageOf(() => testServer({} as never, () => {}))).toContain(
    'expected a server or a connector, got object',
  )
  expect(await messageOf(() => testServer(server, {} as never))).toBe(
    'testServer: expected a function as the test, got object',
  )
  expect(() => createTest(server as never, server)).toThrow('createTest: expected the function of a test runner')
  expect(() => createTest(() => {}, server)('adds', undefined as never)).toThrow(
    'adds: expected a function as the test',
  )
  expect(() => answers(undefined as never)).toThrow(
    'answers: expected an object of scripted answers by name, got nothing',
  )
})

describe('answers', () => {
  it('uses an answer once, and prefers one that fits the form', async () => {
    const { callbacks, unused } = answers({ none: { rows: 1 }, bad: { row: 1.5 }, good: { row: 2 } })
    const schema = { type: 'object' as const, properties: { row: { type: 'integer' as const } } }
    const ask = {
      mode: 'form' as const,
      message: 'Row?',
      schema,
      server: undefined,
      signal: new AbortController().signal,
    }
    expect(await callbacks.onElicit?.(ask)).toEqual({ action: 'accept', content: { row: 2 } })
    expect(unused).toEqual(['none', 'bad', 'good'])
    await expect(callbacks.onElicit?.(ask)).rejects.toThrow('left: "none", "bad"')
  })

  it('declines, cancels, opens URLs and calls functions', async () => {
    const { callbacks } = answers({
      url: (request) => (request.mode === 'url' ? 'accept' : 'cancel'),
      no: 'decline',
      yes: () => ({ row: 1 }),
    })
    const ask = { mode: 'url' as const, message: 'Log in', url: 'https://x.test', server: undefined }
    const { signal } = new AbortController()
    expect(await callbacks.onElicit?.({ ...ask, signal })).toEqual({ action: 'accept' })
    expect(await callbacks.onElicit?.({ ...ask, signal })).toEqual({ action: 'decline' })
    expect(await callbacks.onElicit?.({ ...ask, signal })).toEqual({ action: 'accept', content: { row: 1 } })
  })

  it('refuses an answer of another kind', () => {
    expect(() => answers({ seat: 'yes' as never })).toThrow(
      'answers, seat: expected the values of a form, accept, decline, cancel or a function, got "yes"',
    )
    expect(() => answers({ seat: 7 as never })).toThrow('got number')
    expect(() => answers({}, { modle: 'An ode.' } as never)).toThrow(
      'answers: there is no option "modle"; did you mean "model"?',
    )
    expect(() => answers({}, { model: 7 as never })).toThrow(
      'answers, model: expected a string, an array of strings or a function, got number',
    )
  })
})

describe('matchers', () => {
  const good = { content: [{ type: 'text' as const, text: '{"sum":3}' }], structuredContent: { sum: 3, unit: 'm' } }
  const bad = { content: [{ type: 'text' as const, text: 'no seats' }], isError: true }

  it('compare structured content, in part', () => {
    expect(good).toHaveStructuredContent({ sum: 3 })
    expect(good).not.toHaveStructuredContent({ sum: 4 })
    expect(() => expect(good).toHaveStructuredContent({ sum: 4 })).toThrow('structuredContent.sum: expected 4, got 3')
    expect(() => expect(bad).toHaveStructuredContent({ sum: 4 })).toThrow(
      'expected structuredContent {"sum":4}, got the error "no seats"',
    )
  })

  it('accept matchers of the test runner within values', () => {
    expect(good).toHaveStructuredContent({ sum: expect.any(Number), unit: expect.stringMatching(/^.$/) })
    expect(good).not.toHaveStructuredContent({ sum: expect.any(String) })
    expect(() => expect(good).toHaveStructuredContent({ sum: expect.any(String) })).toThrow(
      'structuredContent.sum: expected "Any<String>", got 3',
    )
    const watched = { calls: [{ tool: 'add', arguments: { a: 1 }, result: undefined, error: undefined }] }
    expect(watched).toHaveCalled('add', { a: expect.any(Number) })
    expect(() => verify(watched).toHaveCalled('add', { a: expect.any(String) })).toThrow(
      'expected a call of add with {"a":"Any<String>"}, got add {"a":1}',
    )
  })

  it('compare the text of results and of failures', () => {
    expect(good).toHaveText(/sum/)
    expect(bad).not.toHaveText('no seats')
    expect(bad).toHaveFailed('no seats')
    expect(() => expect(good).toHaveFailed()).toThrow('expected a failed tool, got "{\\"sum\\":3}"')
  })

  it('say what was expected and received, also for their opposite', () => {
    const run = { asked: [{ name: 'seat', message: 'Which row?', request: {} as never }], reports: [] }
    expect(() => expect(good).not.toHaveStructuredContent({ sum: 3 })).toThrow(
      'structuredContent: expected not {"sum":3}, got {"sum":3,"unit":"m"}',
    )
    expect(() => expect(good).not.toHaveText('sum')).toThrow('expected not the text sum, got "{')
    expect(() => expect(run).not.toHaveAsked('seat')).toThrow('expected not the question seat, got ["Which row?"]')
    expect(() => expect(good).toHaveStructuredContent({ sum: 4, unit: 's' })).toThrow(
      'structuredContent.sum: expected 4, got 3\n  structuredContent.unit: expected "s", got "m"',
    )
  })

  it('ignore the state of a regular expression', () => {
    const expression = /sum/g
    expect(good).toHaveText(expression)
    expect(good).toHaveText(expression)
  })

  it('refuse values that are no results, and no tests', () => {
    expect(() => expect(Promise.resolve(good)).toHaveText('sum')).toThrow(
      'toHaveText: expected the result of a tool, got a promise; write await before callTool',
    )
    expect(() => expect(undefined).not.toHaveFailed()).toThrow(
      'toHaveFailed: expected the result of a tool, got undefined',
    )
    expect(() => expect({ sum: 3 }).toHaveStructuredContent({ sum: 3 })).toThrow('pass what client.callTool returns')
    expect(() => expect(good).not.toHaveAsked('seat')).toThrow('toHaveAsked: expected an object with "asked"')
    expect(() => expect(good).toHaveReported('x')).toThrow('toHaveReported: expected an object with "reports"')
    expect(() => expect(good).toHaveText(undefined as never)).toThrow(
      'toHaveText: expected a string or a regular expression, got nothing',
    )
  })

  it('are assertions of `verify`, with their opposites', () => {
    verify(good).not.toHaveText('product')
    const error = catchSync(() => verify(good).not.toHaveStructuredContent({ sum: 3 }))
    expect(error.message).toBe(
      'not.toHaveStructuredContent: structuredContent: expected not {"sum":3}, got {"sum":3,"unit":"m"}',
    )
    expect(error).toMatchObject({ actual: good.structuredContent, expected: { sum: 3 } })
    verify(good).toHaveText('sum')
    expect(() => verify(bad).toHaveText('sum')).toThrow('toHaveText: expected the text sum, got the error "no seats"')
    expect(() => verify({ asked: [] }).toHaveAsked('seat')).toThrow('expected the question seat, got no questions')
    expect(() => verify({ reports: [] }).toHaveReported('x')).toThrow('got no progress and no log messages')
  })
})
