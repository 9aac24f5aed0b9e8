import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@mcpx/client'
import { type Connector, RpcError } from '@mcpx/protocol'
import { memoryConnector } from '@mcpx/protocol/memory'
import { createServer } from '@mcpx/server'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { contract, type RecordOnceOptions, record, recordOnce, replay } from '../node.ts'
import '../vitest.ts'
import { catchError, delay } from '../timing.ts'
import { answers } from './answers.ts'
import { compareTranscript } from './compare.ts'
import type { Transcript } from './recorded-steps.ts'
import { recordTranscript, replayTranscript } from './transcript.ts'
import { createTravelServer } from './travel.fixture.ts'

type Era = 'modern' | 'legacy'
type Play = (client: Awaited<ReturnType<typeof connect>>) => Promise<unknown>

/** Plays a dialogue with the server and then with its transcript. Returns both outcomes and the transcript. */
async function playTwice(era: Era, play: Play) {
  let transcript: Transcript | undefined
  const script = () => answers({ seat: { row: 7 }, terms: {} }).callbacks
  const recorder = recordTranscript(memoryConnector(createTravelServer()), (saved) => (transcript = saved))
  const client = await connect(recorder, { era, ...script() })
  const recorded = await play(client)
  await client.close()
  const again = await connect(replayTranscript(transcript as Transcript), { era, ...script() })
  const replayed = await play(again)
  await again.close()
  return { recorded, replayed, transcript: transcript as Transcript }
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'transcript-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

describe.each(['modern', 'legacy'] as const)('a transcript of the %s era', (era) => {
  it('replays calls with progress, questions and errors', async () => {
    const { recorded, replayed } = await playTwice(era, async (client) => {
      const steps: unknown[] = []
      const onProgress = (progress: unknown) => steps.push(progress)
      steps.push(await client.callTool('book', { to: 'Oslo' }, { onProgress }))
      steps.push(await client.callTool('add', { a: 1, b: 2 }), await client.callTool('fail'))
      steps.push(await catchError(() => client.readResource('seats://none')))
      steps.push(await client.listTools().all(), await client.readResource('seats://free'), client.server)
      return steps
    })
    // The id of the masked error is part of the transcript.
    expect(replayed).toEqual(recorded)
    expect(JSON.stringify(recorded)).toContain('Row 7 to Oslo')
    expect(JSON.stringify(recorded)).toContain('looking for seats')
  })

  it('replays concurrent calls in any order', async () => {
    const { transcript } = await playTwice(era, (client) =>
      Promise.all([client.callTool('add', { a: 1, b: 1 }), client.callTool('add', { a: 2, b: 2 })]),
    )
    await using client = await connect(replayTranscript(transcript), { era, ...answers({}).callbacks })
    const results = await Promise.all([client.callTool('add', { a: 2, b: 2 }), client.callTool('add', { a: 1, b: 1 })])
    expect(results.map((result) => result.structuredContent)).toEqual([{ sum: 4 }, { sum: 2 }])
  })

  it('ends requests without a recorded response by their timeout, their signal or the end of the connection', async () => {
    const { transcript } = await playTwice(era, async (client) => {
      for (let n = 0; n < 3; n++) await client.callTool('add', { a: 1, b: 2 })
    })
    const steps = transcript.steps.filter((step) => !JSON.stringify(step).includes('"sum"'))
    const client = await connect(replayTranscript({ ...transcript, steps }), { era, ...answers({}).callbacks })
    const add = (options: object) => catchError(() => client.callTool('add', { a: 1, b: 2 }, options))
    expect(await add({ timeout: 30 })).toMatchObject({ reason: 'timeout', message: expect.stringContaining('30 ms') })
    expect(await add({ signal: AbortSignal.timeout(30) })).toMatchObject({ reason: 'cancelled' })
    const last = add({})
    await client.close()
    expect(await last).toMatchObject({ reason: 'closed' })
  })

  it('names the difference to the nearest request, and a request too many', async () => {
    const { transcript } = await playTwice(era, (client) => client.callTool('add', { a: 1, b: 2 }))
    await using client = await connect(replayTranscript(transcript), { era, ...answers({}).callbacks })
    const other = await catchError(() => client.callTool('add', { a: 1, b: 3 }))
    expect(other).toMatchObject({ reason: 'unsupported' })
    expect(String(other)).toContain('replay: tools/call, params.arguments.b: expected 2, got 3')
    await client.callTool('add', { a: 1, b: 2 })
    expect(String(await catchError(() => client.callTool('add', { a: 1, b: 2 })))).toContain(
      'expected at most 1 tools/call request, got another one',
    )
  })

  it('is replayed by a client with other capabilities, another name or another log level', async () => {
    const { transcript } = await playTwice(era, (client) => client.callTool('add', { a: 1, b: 2 }))
    // A legacy client sets the log level with a request of its own.
    const logLevel = era === 'modern' ? 'error' : undefined
    const options = { era, roots: [], clientInfo: { name: 'other', version: '2' }, logLevel } as const
    await using client = await connect(replayTranscript(transcript), options)
    expect((await client.callTool('add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 })
  })

  it('contains no secrets, and replays with other ones', async () => {
    const { transcript } = await playTwice(era, (client) => client.callTool('login', { password: 'hunter2' }))
    expect(JSON.stringify(transcript)).not.toContain('hunter2')
    await using client = await connect(replayTranscript(transcript), { era, ...answers({}).callbacks })
    const { content } = await client.callTool('login', { password: 'another' })
    expect(content).toMatchObject([{ type: 'text' }])
  })

  it('replays the changes of a subscription', async () => {
    let transcript: Transcript | undefined
    const server = createTravelServer()
    const play = async (client: Awaited<ReturnType<typeof connect>>, change: () => void) => {
      const changes = client.listen({ resourceSubscriptions: ['seats://free'] })
      const next = changes[Symbol.asyncIterator]().next()
      await delay(20)
      change()
      const { value } = await next
      await client.close()
      return value
    }
    const recorder = recordTranscript(memoryConnector(server), (saved) => (transcript = saved))
    const recorded = await play(await connect(recorder, { era }), () => server.resourceUpdated('seats://free'))
    const replayed = await play(await connect(replayTranscript(transcript as Transcript), { era }), () => {})
    expect(recorded).toEqual({ kind: 'resource', uri: 'seats://free' })
    expect(replayed).toEqual(recorded)
  })
})

it('contains the detection of the era, also if the client remembers the era', async () => {
  const connector: Connector = {
    peer: 'a legacy server',
    async connect(options) {
      const connection = await memoryConnector(createTravelServer()).connect(options)
      const notFound = () => Promise.reject(new RpcError(-32601, 'Method not found'))
      return {
        closed: connection.closed,
        close: (reason) => connection.close(reason),
        notify: (method, params) => connection.notify(method, params),
        request: (method, params, rest) =>
          method === 'server/discover' ? notFound() : connection.request(method, params, rest),
      }
    },
  }
  await (await connect(connector)).close()
  let transcript: Transcript | undefined
  await (await connect(recordTranscript(connector, (saved) => (transcript = saved)))).close()
  await using again = await connect(replayTranscript(transcript as Transcript))
  expect(again.revision).toBe('2025-11-25')
})

it('replays a question that the client has answered with an error', async () => {
  const onElicit = () => Promise.reject(new RpcError(-32000, 'No user is here'))
  let transcript: Transcript | undefined
  const book = async (connector: Connector) => {
    const client = await connect(connector, { era: 'legacy', onElicit })
    const error = await catchError(() => client.callTool('book', { to: 'Oslo' }))
    await client.close()
    return error
  }
  const expected = { name: 'RpcError', code: -32000, message: 'No user is here' }
  expect(await book(recordTranscript(createTravelServer(), (saved) => (transcript = saved)))).toMatchObject(expected)
  expect(await book(replayTranscript(transcript as Transcript))).toMatchObject(expected)
})

it('fails when the user answers another way than in the transcript', async () => {
  const { transcript } = await playTwice('legacy', (client) => client.callTool('book', { to: 'Oslo' }))
  const { callbacks } = answers({ seat: { row: 8 }, terms: {} })
  await using client = await connect(replayTranscript(transcript), { era: 'legacy', ...callbacks })
  expect(String(await catchError(() => client.callTool('book', { to: 'Oslo' })))).toContain(
    'replay: the answer to elicitation/create.result.content.row: expected 7, got 8',
  )
})

it.each(['modern', 'legacy'] as const)('names the remedy for a client of another era (%s)', async (era) => {
  const { transcript } = await playTwice(era === 'modern' ? 'legacy' : 'modern', (client) => client.callTool('fail'))
  await expect(connect(replayTranscript(transcript), { era })).rejects.toThrow(
    'replay: expected a transcript of a connection of this era, got none; record one file per era',
  )
})

it('refuses what is no transcript', () => {
  const corrupt = { format: 'mcpx transcript 1', steps: [{ from: 'server' }, null] } as unknown as Transcript
  expect(() => replayTranscript(corrupt)).toThrow(
    'replay, steps[1]: expected a message "from" a client or a server; record it again',
  )
  expect(() => replayTranscript({} as Transcript)).toThrow('expected a transcript of the format "mcpx transcript 1"')
})

it('redacts secrets in members, URLs, headers and texts, and replays without them', async () => {
  const leak = {
    headers: { 'set-cookie': ['sid=hunter22'] },
    url: 'https://a.example/#access_token=hunter22',
    dump: 'HTTP/1.1 200 OK\r\nSet-Cookie: sid=hunter22',
  }
  const server = createServer({ name: 'leaky', version: '1' }).tool('leak', {}, () => ({
    content: [{ type: 'text', text: JSON.stringify(leak) }],
    structuredContent: leak,
  }))
  let transcript: Transcript | undefined
  const client = await connect(recordTranscript(memoryConnector(server), (saved) => (transcript = saved)))
  await client.callTool('leak')
  await client.close()
  expect(JSON.stringify(transcript)).not.toContain('hunter22')
  await using again = await connect(replayTranscript(transcript as Transcript))
  expect((await again.callTool('leak')).structuredContent).toMatchObject({ headers: { 'set-cookie': ['[redacted]'] } })
})

it('compares members of arguments whose names are volatile elsewhere', async () => {
  const schema = z.object({ baggage: z.string(), taskId: z.string() })
  const server = createServer({ name: 'airline', version: '1' }).tool(
    'check',
    { input: schema },
    ({ baggage }) => baggage,
  )
  let transcript: Transcript | undefined
  const client = await connect(recordTranscript(server, (saved) => (transcript = saved)))
  await client.callTool('check', { baggage: 'one bag', taskId: '1' })
  await client.close()
  await using again = await connect(replayTranscript(transcript as Transcript))
  const error = await catchError(() => again.callTool('check', { baggage: 'no bags', taskId: '1' }))
  expect(String(error)).toContain('params.arguments.baggage: expected "one bag", got "no bags"')
  await using compared = await connect(compareTranscript(server, transcript as Transcript))
  const difference = await catchError(() => compared.callTool('check', { baggage: 'one bag', taskId: '2' }))
  expect(String(difference)).toContain('params.arguments.taskId: expected "1", got "2"')
})

it('redacts more by option', async () => {
  let transcript: Transcript | undefined
  const redact = (name: string, value: unknown) => (name === 'to' ? 'somewhere' : value)
  const recorder = recordTranscript(memoryConnector(createTravelServer()), (saved) => (transcript = saved), { redact })
  const client = await connect(recorder)
  await client.callTool('book', { to: 'Oslo' }).catch(() => {})
  await client.close()
  expect(JSON.stringify(transcript)).not.toContain('Oslo')
  expect(JSON.stringify(transcript)).toContain('somewhere')
})

it('keeps the types of redacted numbers, so that results match their schemas', async () => {
  const output = { type: 'object', properties: { token: { type: 'number' }, name: { type: 'string' } } } as const
  const server = createServer({ name: 'leaky', version: '1' }).tool('pin', { output }, () => ({
    token: 4711,
    name: 'Ada',
  }))
  let transcript: Transcript | undefined
  const client = await connect(recordTranscript(memoryConnector(server), (saved) => (transcript = saved)))
  await client.callTool('pin')
  await client.close()
  expect(JSON.stringify(transcript)).not.toContain('4711')
  await using again = await connect(replayTranscript(transcript as Transcript))
  expect((await again.callTool('pin')).structuredContent).toEqual({ token: 0, name: 'Ada' })
})

describe.each(['modern', 'legacy'] as const)('comparing a server with a transcript (%s)', (era) => {
  const scripted = () => answers({ seat: { row: 7 }, terms: {} }).callbacks
  const play: Play = async (client) => [
    await client.callTool('add', { a: 1, b: 2 }),
    await client.callTool('book', { to: 'Oslo' }),
    await catchError(() => client.readResource('seats://none')),
  ]

  it('succeeds while the server behaves as it did', async () => {
    const { transcript, recorded } = await playTwice(era, play)
    const connector = compareTranscript(memoryConnector(createTravelServer()), transcript)
    await using client = await connect(connector, { era, ...scripted() })
    expect(await play(client)).toEqual(recorded)
  })

  it('lists what differs in results, in errors and in questions', async () => {
    const { transcript } = await playTwice(era, play)
    const changed = createTravelServer()
    changed.tool('add', { replace: true }, () => ({ content: [{ type: 'text', text: '4' }] }))
    changed.tool('book', { input: z.object({ to: z.string() }), replace: true }, async (_, ctx) => {
      await ctx.elicit('seat', { message: 'Which seat?', schema: z.object({ row: z.number().int() }) })
      return 'Booked'
    })
    changed.resource('seats://none', {}, 'none')
    const connector = compareTranscript(memoryConnector(changed), transcript)
    await using client = await connect(connector, { era, ...scripted() })
    expect(String(await catchError(() => client.callTool('add', { a: 1, b: 2 })))).toMatch(
      /compare: tools\/call\.result\.content\[0\]\.text: expected "\{\\"sum\\":3\}", got "4"\n {2}tools\/call\.result\.structuredContent: expected \{"sum":3\}, got undefined/,
    )
    expect(String(await catchError(() => client.callTool('book', { to: 'Oslo' })))).toContain(
      'message: expected "Which row?", got "Which seat?"',
    )
    const gone = await catchError(() => client.readResource('seats://none'))
    expect(gone).toMatchObject({ reason: 'unsupported', hint: expect.stringContaining('MCPX_RECORD=1') })
    expect(String(gone)).toContain('compare: resources/read.')
    expect(String(await catchError(() => client.callTool('add', { a: 1, b: 3 })))).toContain('compare: ')
  })
})

describe('files', () => {
  it('are written when a client is closed, readable, and replayed', async () => {
    const file = join(folder(), 'deep', 'add.json')
    const client = await connect(record(memoryConnector(createTravelServer()), file))
    await client.callTool('add', { a: 1, b: 2 })
    expect(existsSync(file)).toBe(false)
    await client.close()
    expect(readFileSync(file, 'utf8')).toContain('\n      "method": "tools/call",\n')
    await using again = await connect(replay(file))
    expect((await again.callTool('add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 })
  })

  it('are recorded once, and again on demand', async () => {
    vi.stubEnv('CI', '')
    onTestFinished(() => void vi.unstubAllEnvs())
    const file = join(folder(), 'add.json')
    let connections = 0
    const connector = () => {
      const inner = memoryConnector(createTravelServer())
      const opened = (options: Parameters<typeof inner.connect>[0]) => {
        connections += 1
        return inner.connect(options)
      }
      return { connect: opened }
    }
    const call = async () => {
      await using client = await connect(recordOnce(connector(), file))
      return await client.callTool('add', { a: 1, b: 2 })
    }
    const first = await call()
    expect(await call()).toEqual(first)
    expect(connections).toBe(1)
    vi.stubEnv('MCPX_RECORD', '1')
    await call()
    expect(connections).toBe(2)
  })

  it('are compared with the server, by an option or by the environment', async () => {
    vi.stubEnv('CI', '')
    onTestFinished(() => void vi.unstubAllEnvs())
    const file = join(folder(), 'add.json')
    const call = async (server: ReturnType<typeof createTravelServer>, options?: RecordOnceOptions) => {
      await using client = await connect(recordOnce(memoryConnector(server), file, options))
      return await client.callTool('add', { a: 1, b: 2 })
    }
    await call(createTravelServer())
    await call(createTravelServer(), { mode: 'compare' })
    const changed = createTravelServer()
    changed.tool('add', { replace: true }, () => 'four')
    const problem = `compare ${file}: tools/call.result.content[0].text: expected "{\\"sum\\":3}", got "four"`
    await expect(call(changed, { mode: 'compare' })).rejects.toThrow(problem)
    vi.stubEnv('MCPX_RECORD', 'compare')
    await expect(call(changed)).rejects.toThrow(problem)
    await call(changed, { mode: 'replay' })
    await call(changed, { mode: 'record' })
    await call(changed)
  })

  it('are recorded again by vitest -u, unless the environment says otherwise', async () => {
    vi.stubEnv('CI', '')
    onTestFinished(() => void vi.unstubAllEnvs())
    const [file, lock] = [join(folder(), 'add.json'), join(folder(), 'mcpx.lock.json')]
    await contract(createTravelServer(), lock)
    const changed = createTravelServer()
    changed.removeTool('slow')
    writeFileSync(file, '{}')
    expect(() => recordOnce(changed, file)).toThrow('expected a transcript')
    vi.spyOn(expect.getState().snapshotState, 'snapshotUpdateState', 'get').mockReturnValue('all')
    onTestFinished(() => void vi.restoreAllMocks())
    vi.stubEnv('MCPX_RECORD', 'replay')
    expect(() => recordOnce(changed, file)).toThrow('expected a transcript')
    vi.stubEnv('MCPX_RECORD', '')
    const client = await connect(recordOnce(changed, file))
    await client.close()
    expect(readFileSync(file, 'utf8')).toContain('mcpx transcript 1')
    await contract(changed, lock)
    expect(readFileSync(lock, 'utf8')).not.toContain('slow')
  })

  it('refuse other modes', () => {
    onTestFinished(() => void vi.unstubAllEnvs())
    const connector = memoryConnector(createTravelServer())
    expect(() => recordOnce(connector, 'x.json', { mode: 'update' as never })).toThrow(
      'recordOnce, mode: expected auto, replay, record or compare, got "update"',
    )
    vi.stubEnv('MCPX_RECORD', 'update')
    expect(() => recordOnce(connector, 'x.json')).toThrow('MCPX_RECORD: expected 1, replay or compare, got "update"')
  })

  it('name the file when the client differs, or when the format is another one', async () => {
    const file = join(folder(), 'add.json')
    const client = await connect(record(memoryConnector(createTravelServer()), file))
    await client.callTool('add', { a: 1, b: 2 })
    await client.close()
    await using again = await connect(replay(file))
    expect(String(await catchError(() => again.callTool('add', { a: 3, b: 4 })))).toContain(
      `replay ${file}: tools/call, params.arguments.a: expected 1, got 3\n  tools/call, params.arguments.b: expected 2, got 4`,
    )
    writeFileSync(file, '{ "format": "mcpx transcript 0", "steps": [] }')
    expect(() => replay(file)).toThrow(
      `replay ${file}: expected a transcript of the format "mcpx transcript 1", got "mcpx transcript 0"; record it again`,
    )
  })

  it('that cannot be written make closing the client fail', async () => {
    const file = join(folder(), 'add.json')
    writeFileSync(file, '')
    const client = await connect(record(createTravelServer(), join(file, 'add.json')))
    await expect(client.close()).rejects.toThrow(`record: cannot write ${join(file, 'add.json')}: `)
    expect(() => record(createTravelServer(), undefined as never)).toThrow(
      'record: expected the path of a file, got nothing',
    )
    expect(() => record('http://x' as never, file)).toThrow('pass http("http://x") or spawn(command, args)')
    expect(() => record(createTravelServer(), file, { redcat: () => 1 } as never)).toThrow(
      'record: there is no option "redcat"; did you mean "redact"?',
    )
    expect(() => replay(file, { mode: 'auto' } as never)).toThrow('replay: there is no option "mode"')
    expect(() => record(createTravelServer(), file, { redact: 'to' as never })).toThrow(
      'redact: expected a function (name, value) => value, got string',
    )
  })

  it('name the remedy when they are missing or broken', () => {
    vi.stubEnv('CI', 'true')
    onTestFinished(() => void vi.unstubAllEnvs())
    const file = join(folder(), 'none.json')
    expect(() => recordOnce(memoryConnector(createTravelServer()), file)).toThrow(
      `replay: cannot read ${file}; record it first, for example with MCPX_RECORD=1`,
    )
    writeFileSync(file, '{')
    expect(() => replay(file)).toThrow(`replay: ${file} is not JSON; record it again`)
  })
})

describe('contract', () => {
  it('writes a lock, and fails when the server differs from it', async () => {
    vi.stubEnv('CI', '')
    onTestFinished(() => void vi.unstubAllEnvs())
    const file = join(folder(), 'mcpx.lock.json')
    await contract(createTravelServer(), file)
    await contract(createTravelServer(), file)
    const changed = createTravelServer()
    changed.removeTool('slow')
    await expect(contract(changed, file)).rejects.toThrow('[high] tool "slow" was removed')
    vi.stubEnv('MCPX_RECORD', '1')
    await contract(changed, file)
    vi.stubEnv('MCPX_RECORD', '')
    await contract(changed, file)
  })

  it('is updated by option, and names a file of another kind', async () => {
    const file = join(folder(), 'mcpx.lock.json')
    await contract(createTravelServer(), file, { update: true })
    const changed = createTravelServer()
    changed.removeTool('slow')
    await expect(contract(changed, file, { update: false })).rejects.toThrow('[high] tool "slow" was removed')
    await contract(changed, file, { update: true })
    await contract(changed, file)
    writeFileSync(file, '{ "version": 0 }')
    await expect(contract(changed, file)).rejects.toThrow(
      `contract: ${file} is not a lock: lock: expected a lock of version 1`,
    )
  })

  it('refuses other options, and a missing path', async () => {
    const update = { updates: true } as never
    await expect(contract(createTravelServer(), 'x.json', update)).rejects.toThrow(
      'contract: there is no option "updates"; did you mean "update"?',
    )
    await expect(contract(createTravelServer(), undefined as never)).rejects.toThrow(
      'contract: expected the path of a file, got nothing',
    )
  })

  it('needs the lock in CI', async () => {
    vi.stubEnv('CI', 'true')
    onTestFinished(() => void vi.unstubAllEnvs())
    const file = join(folder(), 'mcpx.lock.json')
    await expect(contract(createTravelServer(), file)).rejects.toThrow(`contract: cannot read ${file}; record it first`)
  })
})
