import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'
import { PassThrough, Writable } from 'node:stream'
import { type Channel, createDuplex, type Decoded, type Message, Refusal, resultMessage } from '@mcpx/protocol'
import { catchError, channelContract, delay, describeContract, requesterContract, waitForTasks } from '@mcpx/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { createStreamChannel, type StreamChannelOptions } from './stream-channel.ts'

const sockets: Socket[] = []
afterAll(() => {
  for (const socket of sockets) socket.destroy()
})

async function socketPair(): Promise<[Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const near = dial({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true })
  const [far] = (await once(server, 'connection')) as [Socket]
  await once(near, 'connect')
  server.close()
  sockets.push(near, far)
  return [near, far]
}

function overSocket(socket: Socket, options: Partial<StreamChannelOptions> = {}): Channel {
  return createStreamChannel({ input: socket, output: socket, ...options })
}

async function socketChannels(): Promise<[Channel, Channel]> {
  const [near, far] = await socketPair()
  return [overSocket(near), overSocket(far)]
}

function streamChannels(options: Partial<StreamChannelOptions> = {}): [Channel, Channel, PassThrough, PassThrough] {
  const [there, back] = [new PassThrough(), new PassThrough()]
  const near = createStreamChannel({ input: back, output: there, ...options })
  const far = createStreamChannel({ input: there, output: back, ...options })
  return [near, far, there, back]
}

describeContract('a socket', channelContract(socketChannels), { describe, it })
describeContract(
  'a pair of streams',
  channelContract(() => {
    const [near, far] = streamChannels()
    return [near, far]
  }),
  { describe, it },
)
describeContract(
  'a duplex over a socket',
  requesterContract(async (responder) => {
    const [near, far] = await socketChannels()
    createDuplex(far, { responder })
    return createDuplex(near)
  }),
  { describe, it },
)

function note(n: number, text = ''): Message {
  return { jsonrpc: '2.0', method: 'n', params: { n, text } }
}

describe('a channel over streams', () => {
  it('writes the messages of one turn of the event loop together, one per line [S-100, C-030]', async () => {
    const writes: string[] = []
    const output = new Writable({
      decodeStrings: false,
      write(chunk, _, done) {
        writes.push(String(chunk))
        done()
      },
    })
    const channel = createStreamChannel({ input: new PassThrough(), output })
    await Promise.all([1, 2, 3].map(async (n) => channel.send(note(n, 'a\nb'))))
    await waitForTasks()
    expect(writes).toHaveLength(1)
    expect(
      writes[0]
        ?.trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([1, 2, 3].map((n) => note(n, 'a\nb')))
  })

  it('writes the responses to one chunk together, and in pieces when they are large', async () => {
    const input = new PassThrough()
    const writes: string[] = []
    const output = new Writable({
      decodeStrings: false,
      write(text: string, _encoding, done) {
        writes.push(text)
        done()
      },
    })
    const channel = createStreamChannel({ input, output })
    const text = 'x'.repeat(1_000)
    void channel.receive((item) => void channel.send(resultMessage((item as { id: number }).id, { text })))
    const counts: number[] = []
    for (const count of [1, 5, 60]) {
      const requests = Array.from({ length: count }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"m"}\n`)
      input.write(requests.join(''))
      await waitForTasks()
      counts.push(writes.length)
      expect(writes.splice(0).join('').trim().split('\n')).toHaveLength(count)
    }
    expect(counts).toEqual([1, 1, 4])
  })

  it('delivers all messages that it has read before it is closed, although the receiver is busy', async () => {
    const [near, far, , back] = streamChannels()
    let finish = (): void => {}
    const items: Decoded[] = []
    const ended = near.receive((item) => {
      items.push(item)
      if (items.length > 1) return undefined
      return new Promise<void>((resolve) => {
        finish = resolve
      })
    })
    const lines = Array.from({ length: 300 }, (_, n) => `${JSON.stringify(note(n))}\n`)
    back.write(lines.slice(0, 200).join(''))
    back.write(`${lines.slice(200).join('')}{"jsonrpc":`)
    await waitForTasks()
    await near.close()
    expect(items).toHaveLength(1)
    finish()
    await ended
    expect(items).toEqual(lines.map((_, n) => note(n)))
    await far.close()
  })

  it('can be closed by its receiver', async () => {
    const [near, , , back] = streamChannels()
    const items: Decoded[] = []
    const ended = near.receive(async (item) => {
      items.push(item)
      await near.close()
    })
    back.write(`${JSON.stringify(note(1))}\n${JSON.stringify(note(2))}\n`)
    await ended
    expect(items).toEqual([note(1), note(2)])
  })

  it('refuses a message that cannot be written as JSON, and writes nothing', async () => {
    const [near, far] = streamChannels()
    const items: Decoded[] = []
    const ended = far.receive((item) => void items.push(item))
    const bad = { jsonrpc: '2.0', method: 'n', params: { n: 1n } } as unknown as Message
    expect(() => near.send(bad)).toThrow('the parameters of n cannot be written as JSON')
    await near.send(note(1))
    await near.close()
    await ended
    expect(items).toEqual([note(1)])
  })

  it('answers invalid lines with an error without id, and reads the next ones [S-104]', async () => {
    const [near, far] = await socketPair()
    const responder = {
      respond: (message: Message) => ('id' in message ? resultMessage(message.id as number, {}) : undefined),
    }
    createDuplex(overSocket(far), { responder })
    near.write('no json\n{"jsonrpc":"1.0"}\n\n\r\n[]\n{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n')
    let answered = ''
    near.on('data', (chunk) => (answered += chunk))
    while (!answered.includes('result')) await delay(5)
    const answers = answered
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers.map(({ error }) => error?.code)).toEqual([-32700, -32600, -32600, undefined])
    for (const answer of answers.slice(0, 3)) expect(answer).not.toHaveProperty('id')
    expect(answers[3]).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  })

  it('passes lines that are not messages to `onStray`, and the others to the receiver', async () => {
    const stray: string[] = []
    const there = new PassThrough()
    const channel = createStreamChannel({
      input: there,
      output: new PassThrough(),
      onStray: (line) => void stray.push(line),
    })
    const items: Decoded[] = []
    const ended = channel.receive((item) => void items.push(item))
    there.end('Listening on 80\n[1,"two"]\n{"jsonrpc":"2.0","id":4,"result":5}\n{"jsonrpc":"2.0","method":"n"}')
    await ended
    expect(stray).toEqual(['Listening on 80', '[1,"two"]'])
    expect(items[0]).toBeInstanceOf(Refusal)
    expect(items[0]).toMatchObject({ kind: 'response', id: 4 })
    expect(items[1]).toEqual({ jsonrpc: '2.0', method: 'n' })
  })

  it('stops reading from a peer that does not read its responses, and bounds what is unsent', async () => {
    const [near, far] = await socketPair()
    let asked = 0
    const text = 'x'.repeat(50_000)
    const responder = {
      respond: (message: Message) => {
        asked += 1
        return resultMessage((message as { id: number }).id, { text })
      },
    }
    const channel = overSocket(far, { maxUnsent: 1_000_000 })
    const duplex = createDuplex(channel, { responder })
    near.pause()
    const requests = 20_000
    for (let id = 1; id <= requests; id++) near.write(`{"jsonrpc":"2.0","id":${id},"method":"m"}\n`)
    await delay(300)
    expect(asked).toBeLessThan(requests / 2)
    expect(() => channel.send(note(1))).toThrow('more than 1000000 characters wait to leave (maxUnsent)')
    near.destroy()
    await duplex.closed
  })

  it('continues when the peer reads again, and answers everything', async () => {
    const [near, far] = await socketPair()
    const text = 'x'.repeat(20_000)
    const responder = { respond: (message: Message) => resultMessage((message as { id: number }).id, { text }) }
    createDuplex(overSocket(far, { maxUnsent: 200_000 }), { responder })
    near.pause()
    for (let id = 1; id <= 2_000; id++) near.write(`{"jsonrpc":"2.0","id":${id},"method":"m"}\n`)
    await delay(50)
    let lines = 0
    near.on('data', (chunk: Buffer) => {
      for (const byte of chunk) if (byte === 10) lines += 1
    })
    near.resume()
    while (lines < 2_000) await delay(10)
    expect(lines).toBe(2_000)
    near.destroy()
  })

  it('closes in time when the peer reads nothing', async () => {
    const [near, far] = await socketPair()
    far.pause()
    const channel = overSocket(near, { flushTimeout: 50 })
    for (let n = 0; n < 300; n++) void channel.send(note(n, 'x'.repeat(100_000)))
    const started = performance.now()
    await channel.close()
    expect(performance.now() - started).toBeLessThan(1_000)
  })

  it('rejects with the error of the stream, and sends nothing more', async () => {
    const [near, far] = await socketPair()
    const channel = overSocket(near)
    const receiving = catchError(() => channel.receive(() => {}))
    near.destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
    expect(await receiving).toMatchObject({ name: 'ConnectionError', reason: 'closed', cause: { code: 'ECONNRESET' } })
    expect(await catchError(() => channel.send(note(1)))).toMatchObject({ reason: 'closed' })
    far.destroy()
  })

  it('refuses an invalid limit', () => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    for (const maxLineLength of [0, -1, 1.5, Number.NaN, 2 ** 40]) {
      expect(() => createStreamChannel({ input, output, maxLineLength })).toThrow(RangeError)
    }
  })
})
