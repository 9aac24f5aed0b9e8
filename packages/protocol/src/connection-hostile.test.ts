/** A hostile peer: none of its messages makes this side throw, hang, answer twice, or leak memory. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Decoded, decode, encode } from './codec.ts'
import { createDuplex } from './connection.ts'
import { RpcError } from './errors.ts'
import { createChannelPair } from './memory.ts'
import { type Message, Refusal, resultMessage } from './messages.ts'
import type { RequestId } from './schemas/shared.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`seed of the hostile messages: ${seed} (repeat with FC_SEED=${seed})`)

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const heap = () => {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

const id = fc.oneof(fc.integer(), fc.string(), fc.constantFrom(null, 1.5, true, {}, [], 1e300, -0, '', '1', 1, 2, 3))
const method = fc.constantFrom(
  'tools/call',
  'initialize',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/x',
  '__proto__',
  'constructor',
  '',
)
const params = fc.oneof(
  fc.constantFrom(undefined, null, [], 'x', {}, { _meta: null }, { _meta: { progressToken: {} } }),
  fc.record(
    { requestId: id, reason: fc.jsonValue(), progressToken: id, progress: fc.double(), _meta: fc.jsonValue() },
    { requiredKeys: [] },
  ),
  fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), fc.jsonValue()),
)
const error = fc.oneof(
  fc.jsonValue(),
  fc.record({ code: fc.oneof(fc.integer(), fc.double()), message: fc.string(), data: fc.jsonValue() }),
)
const messageLike = fc.record(
  {
    jsonrpc: fc.constantFrom('2.0', '2.0', '2.0', '2.0', '1.0', 2, null),
    id,
    method,
    params,
    result: fc.jsonValue(),
    error,
  },
  { requiredKeys: [] },
)
const shaped = fc.oneof(
  fc.record({ jsonrpc: fc.constant('2.0'), id, method, params }, { requiredKeys: ['jsonrpc', 'method'] }),
  fc.record({ jsonrpc: fc.constant('2.0'), id, result: fc.dictionary(fc.string(), fc.jsonValue()) }),
  messageLike,
)
const json = fc.oneof(
  { weight: 4, arbitrary: shaped },
  { weight: 1, arbitrary: fc.array(shaped, { maxLength: 5 }) },
  fc.jsonValue(),
)

/** Valid JSON, damaged JSON, and other strings. */
const text = fc.oneof(
  { weight: 4, arbitrary: json.map((value) => JSON.stringify(value) ?? '') },
  fc.tuple(json, fc.nat(), fc.nat(3), fc.string({ maxLength: 3 })).map(([value, at, gone, put]) => {
    const whole = JSON.stringify(value) ?? ''
    const start = at % (whole.length + 1)
    return whole.slice(0, start) + put + whole.slice(start + gone)
  }),
  fc.string({
    unit: fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', 'u', '0', '1', 'e', '-', ' ', 'n', '\n'),
  }),
  fc.string({ unit: 'binary' }),
)

describe('strings', () => {
  // Thousands of strings take two seconds, and longer on a busy machine.
  it('are accepted completely or rejected with a named error, and accepted messages can be encoded', {
    timeout: 30_000,
  }, () => {
    let refusals = 0
    const check = (item: Decoded): void => {
      if (Array.isArray(item)) for (const part of item) check(part)
      else if (item instanceof Refusal) {
        refusals += 1
        expect(item.error).toBeInstanceOf(RpcError)
        expect([-32700, -32600]).toContain(item.error.code)
        expect(item.error.message.length).toBeLessThan(200)
        if (item.answer !== undefined) expect(decode(encode(item.answer))).toEqual(item.answer)
      } else expect(decode(encode(item))).toEqual(JSON.parse(JSON.stringify(item)))
    }
    fc.assert(
      fc.property(text, (line) => check(decode(line))),
      { seed, numRuns: 12_000 },
    )
    expect(refusals).toBeGreaterThan(1_000)
  })
})

/** Counts the occurrences of each id. */
function tally() {
  const counts = new Map<RequestId, number>()
  return {
    counts,
    add: (key: RequestId) => void counts.set(key, (counts.get(key) ?? 0) + 1),
    total: () => [...counts.values()].reduce((sum, n) => sum + n, 0),
  }
}

describe('a duplex', () => {
  it('answers each request once, stays usable, and keeps no state', { timeout: 30_000 }, async () => {
    const [near, far] = createChannelPair({ maxQueued: 100_000 })
    const expected = tally()
    const answered = tally()
    let cancellations = 0
    let problems = 0
    const duplex = createDuplex(near, {
      supportsBatches: () => true,
      onWarning: () => void problems++,
      responder: {
        respond(message) {
          if (message.method === 'constructor') throw new Error('fault')
          if (!('id' in message)) return undefined
          return message.method === '' ? Promise.resolve(resultMessage(message.id, {})) : resultMessage(message.id, {})
        },
      },
    })
    const count = (item: Decoded): void => {
      if (Array.isArray(item)) for (const part of item) count(part)
      else if (!(item instanceof Refusal) && !('method' in item) && item.id !== undefined) answered.add(item.id)
    }
    void far.receive(count)
    const expectAnswer = (item: Message | Refusal): void => {
      const asks = item instanceof Refusal ? item.answer !== undefined : 'method' in item
      if (asks && 'id' in item && item.id !== undefined) expected.add(item.id)
      if ('method' in item && item.method === 'notifications/cancelled') cancellations += 1
    }
    let lines = 0
    const start = heap()
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 8 }), async (batch) => {
        for (const line of batch) {
          lines += 1
          const item = decode(line)
          for (const part of Array.isArray(item) ? item : [item]) expectAnswer(part)
          await far.send(item as Message)
        }
      }),
      { seed, numRuns: 3_000 },
    )
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(lines).toBeGreaterThan(8_000)
    for (const [key, times] of answered.counts) expect(times).toBeLessThanOrEqual(expected.counts.get(key) ?? 0)
    expect(answered.total()).toBeGreaterThan(3_000)
    expect(answered.total()).toBeGreaterThanOrEqual(expected.total() - cancellations)
    expect(problems).toBeGreaterThan(0)
    expect(duplex.load).toEqual({ running: 0, pending: 0 })
    answered.counts.clear()
    expected.counts.clear()
    expect(heap() - start).toBeLessThan(8 * 1024 * 1024)
    await duplex.close()
  })
})
