import { Buffer } from 'node:buffer'
import { type Decoded, Refusal } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { encodeLine, LineDecoder } from './lines.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`FC_SEED=${seed}`)

/** A small generator of numbers, so that a failure can be repeated. */
function numbersFrom(start: number): (below: number) => number {
  let state = start >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function readAll(chunks: (Uint8Array | string)[], limit?: number): Decoded[] {
  const decoder = new LineDecoder(limit)
  const lines = [...chunks.flatMap((chunk) => decoder.split(chunk)), ...(decoder.end() ?? [])]
  return lines.map((line) => decoder.decode(line)).filter((item) => item !== undefined)
}

function note(text: string) {
  return { jsonrpc: '2.0' as const, method: 'n', params: { text } }
}

describe('lines', () => {
  it('do not depend on how the bytes are split into chunks [S-104]', () => {
    const next = numbersFrom(seed)
    const messages = ['', 'é', '日本語 \u{1f600}', 'a\nb\r\n', 'x'.repeat(70_000)].map(note)
    const bytes = Buffer.from(
      messages.map((message, n) => encodeLine(message).replace('\n', n % 2 ? '\r\n' : '\n')).join('\r\n'),
    )
    for (let round = 0; round < 60; round++) {
      const chunks: Buffer[] = []
      const largest = 1 + next(round % 2 ? 100 : 50_000)
      for (let at = 0; at < bytes.length; ) {
        const length = 1 + next(largest)
        chunks.push(bytes.subarray(at, at + length))
        at += length
      }
      expect(readAll(chunks)).toEqual(messages)
    }
  })

  it('may start with a byte order mark and end without a line break', () => {
    expect(readAll(['\uFEFF{"jsonrpc":"2.0","method":"a"}\n{"jsonrpc":"2.0","method":"b"}'])).toHaveLength(2)
    expect(readAll(['\uFEFF{"jsonrpc":"2.0","method":"a"}\n'])).toEqual([{ jsonrpc: '2.0', method: 'a' }])
    expect(readAll(['{"jsonrpc":"2.0","method":"a"}\n{"jsonrpc":"2.0"'])[1]).toMatchObject({ error: { code: -32700 } })
  })

  it('of any size are read in linear time, even in tiny chunks', () => {
    const time = (megabytes: number, chunk: number) => {
      const bytes = Buffer.from(encodeLine(note('x'.repeat(megabytes * 1_000_000))))
      const chunks: Buffer[] = []
      for (let at = 0; at < bytes.length; at += chunk) chunks.push(bytes.subarray(at, at + chunk))
      const started = performance.now()
      expect(readAll(chunks)).toHaveLength(1)
      return performance.now() - started
    }
    const leastTime = (megabytes: number) => Math.min(...[1, 2, 3].map(() => time(megabytes, 64)))
    const [one, eight] = [Math.max(2, leastTime(1)), leastTime(8)]
    expect(eight / one).toBeLessThan(40)
    expect(time(10, 65_536)).toBeLessThan(1_500)
  })
})

describe('a line above the limit', () => {
  const limit = 200
  const long = 'x'.repeat(1_000)

  it('is refused with an error that names the limit, and the next lines are read [S-104]', () => {
    for (const size of [1, 7, 150, 5_000]) {
      const text = `${long}\n{"jsonrpc":"2.0","method":"a"}\n${long}\n{"jsonrpc":"2.0","method":"b"}\n`
      const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
      const items = readAll(chunks, limit)
      expect(items.map((item) => (item instanceof Refusal ? 'refused' : (item as { method: string }).method))).toEqual([
        'refused',
        'a',
        'refused',
        'b',
      ])
      expect((items[0] as Refusal).error.message).toBe(
        'Invalid message: a line longer than 200 bytes; raise maxLineLength to let it in',
      )
    }
  })

  it('counts bytes, not characters', () => {
    const fits = encodeLine(note('é'.repeat(60)))
    expect(Buffer.byteLength(fits) - 1).toBeGreaterThan(limit - 40)
    for (const text of [fits, encodeLine(note('é'.repeat(90)))]) {
      const isLonger = Buffer.byteLength(text) - 1 > limit
      for (const chunks of [[text], [text.slice(0, 20), text.slice(20)]]) {
        expect(readAll(chunks, limit)[0] instanceof Refusal).toBe(isLonger)
      }
    }
    const exact = encodeLine(note('x'.repeat(limit - encodeLine(note('')).length + 1)))
    expect(readAll([exact], limit)[0]).not.toBeInstanceOf(Refusal)
    expect(readAll([exact.replace('x', 'xx')], limit)[0]).toBeInstanceOf(Refusal)
  })

  it('is refused with its id if that is the first or the last member', () => {
    const cases: [string, string, unknown][] = [
      [`{"jsonrpc":"2.0","id":7,"result":{"t":"${long}"}}`, 'response', 7],
      [`{"result":{"t":"${long}","id":3},"jsonrpc":"2.0","id":"a\\"b"}`, 'response', 'a"b'],
      [`{"jsonrpc":"2.0","error":{"message":"${long}"},"id":9}\r`, 'response', 9],
      [`{"jsonrpc":"2.0","id":-1,"method":"m","params":{"t":"${long}"}}`, 'request', -1],
      [`{"method":"m","params":{"t":"${long}","id":3}}`, 'unknown', undefined],
      [`{"method":"m","params":{"t":"${long},\\"id\\":5}"}}`, 'unknown', undefined],
      [`${long},"id":99999999999999999999}`, 'unknown', undefined],
    ]
    for (const [line, kind, id] of cases) {
      for (const size of [33, 100_000]) {
        const chunks = `${line}\n`.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
        expect(readAll(chunks, limit)).toMatchObject([{ kind, id }])
      }
    }
  })

  it('needs little memory however long it is', () => {
    const decoder = new LineDecoder(1_000)
    const chunk = Buffer.alloc(65_536, 'x')
    const before = process.memoryUsage().arrayBuffers
    for (let n = 0; n < 2_000; n++) expect(decoder.split(chunk)).toEqual([])
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(5_000_000)
    const [line = ''] = decoder.split('\n')
    expect(decoder.decode(line)).toBeInstanceOf(Refusal)
  })
})
