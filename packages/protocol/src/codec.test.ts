import { describe, expect, it } from 'vitest'
import { decode, encode } from './codec.ts'
import { CODEC_LIMITS } from './limits.ts'
import { type Message, Refusal } from './messages.ts'

function refused(text: string, limits = CODEC_LIMITS): Refusal {
  const result = decode(text, limits)
  expect(result).toBeInstanceOf(Refusal)
  return result as Refusal
}

describe('an accepted message', () => {
  it.each([
    '{"jsonrpc":"2.0","id":1,"method":"m"}',
    '{"jsonrpc":"2.0","id":"","method":""}',
    '{"jsonrpc":"2.0","id":0,"method":"m","params":{}}',
    '{"jsonrpc":"2.0","id":-9007199254740991,"method":"m","params":{"a":[1,null]}}',
    '{"jsonrpc":"2.0","method":"n"}',
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"","data":null}}',
    '{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}',
    ' \t\r\n{"jsonrpc":"2.0","method":"n"} ',
    '{"jsonrpc":"2.0","method":"n","extra":{"kept":true}}',
  ])('%s', (text) => {
    expect(decode(text)).toEqual(JSON.parse(text))
  })

  it('is an error without id if its id is null', () => {
    expect(decode('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}')).toEqual({
      jsonrpc: '2.0',
      error: { code: 1, message: 'm' },
    })
  })

  it('is part of an array, whose parts are accepted or rejected separately', () => {
    const items = decode('[{"jsonrpc":"2.0","id":1,"method":"m"},7,{"jsonrpc":"2.0","id":2,"method":"initialize"}]')
    expect(items).toMatchObject([{ id: 1 }, { kind: 'unknown' }, { kind: 'request', id: 2 }])
  })
})

describe('a rejected message', () => {
  it.each([
    ['5', 'unknown', undefined, 'expected a JSON object, got number'],
    ['null', 'unknown', undefined, 'expected a JSON object, got null'],
    ['"x"', 'unknown', undefined, 'expected a JSON object, got string'],
    ['[]', 'unknown', undefined, 'an array of messages must not be empty'],
    ['{}', 'unknown', undefined, 'jsonrpc: expected "2.0", got nothing'],
    ['{"jsonrpc":"1.0","id":3,"method":"m"}', 'request', 3, 'jsonrpc: expected "2.0", got another string'],
    ['{"jsonrpc":2,"method":"n"}', 'notification', undefined, 'jsonrpc: expected "2.0", got number'],
    ['{"jsonrpc":"2.0","id":null,"method":"m"}', 'request', undefined, 'id: expected string or integer, got null'],
    [
      '{"jsonrpc":"2.0","id":1.5,"method":"m"}',
      'request',
      undefined,
      'id: expected string or integer, got a number that is not an integer',
    ],
    ['{"jsonrpc":"2.0","id":true,"method":"m"}', 'request', undefined, 'id: expected string or integer, got boolean'],
    ['{"jsonrpc":"2.0","id":[],"method":"m"}', 'request', undefined, 'id: expected string or integer, got array'],
    [
      '{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}',
      'request',
      undefined,
      'id: expected an integer within ±(2^53−1), got a larger one',
    ],
    [
      '{"jsonrpc":"2.0","id":1e999,"method":"m"}',
      'request',
      undefined,
      'id: expected string or integer, got a number that is not an integer',
    ],
    ['{"jsonrpc":"2.0","id":1,"method":null}', 'unknown', 1, 'method: expected string, got null'],
    ['{"jsonrpc":"2.0","id":1,"method":"m","params":[]}', 'request', 1, 'params: expected object, got array'],
    ['{"jsonrpc":"2.0","id":1,"method":"m","params":null}', 'request', 1, 'params: expected object, got null'],
    ['{"jsonrpc":"2.0","method":"n","params":"x"}', 'notification', undefined, 'params: expected object, got string'],
    [
      '{"jsonrpc":"2.0","id":1,"method":"m","result":{}}',
      'request',
      1,
      'expected either "method" or one of "result" and "error", got both',
    ],
    ['{"jsonrpc":"2.0","id":1}', 'unknown', 1, 'expected one of "method", "result" and "error", got none'],
    [
      '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}',
      'response',
      1,
      'expected one of "result" and "error", got both',
    ],
    ['{"jsonrpc":"2.0","result":{}}', 'response', undefined, 'id: expected string or integer, got nothing'],
    ['{"jsonrpc":"2.0","id":1,"result":null}', 'response', 1, 'result: expected object, got null'],
    ['{"jsonrpc":"2.0","id":1,"result":[]}', 'response', 1, 'result: expected object, got array'],
    ['{"jsonrpc":"2.0","id":1,"error":"no"}', 'response', 1, 'error: expected object, got string'],
    ['{"jsonrpc":"2.0","id":1,"error":{"message":"m"}}', 'response', 1, 'error.code: expected integer, got nothing'],
    [
      '{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"m"}}',
      'response',
      1,
      'error.code: expected integer, got a number that is not an integer',
    ],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1}}', 'response', 1, 'error.message: expected string, got nothing'],
    [
      '{"jsonrpc":"2.0","id":false,"error":{"code":1,"message":"m"}}',
      'response',
      undefined,
      'id: expected string or integer, got boolean',
    ],
  ])('%s', (text, kind, id, problem) => {
    const refusal = refused(text)
    expect(refusal).toMatchObject({ kind, id, error: { code: -32600, message: `Invalid message: ${problem}` } })
    const answered = kind === 'request' || kind === 'unknown'
    const error = { code: -32600, message: `Invalid message: ${problem}` }
    expect(refusal.answer).toEqual(
      answered ? { jsonrpc: '2.0', ...(id === undefined ? {} : { id }), error } : undefined,
    )
  })

  it.each(['', '{', '{"a":', 'undefined', "{'a':1}", '{"a":1}}', '\u0000', '[1,]'])('is invalid JSON: %j', (text) => {
    const refusal = refused(text)
    expect(refusal.error.code).toBe(-32700)
    expect(refusal.answer).not.toHaveProperty('id')
    expect(refusal.answer?.error.message).toMatch(/^Parse error: not valid JSON/)
  })

  it('is not repeated in the error', () => {
    const secret = 'hunter2'
    const texts = [
      `${secret}`,
      `{"jsonrpc":"${secret}","id":1,"method":"m"}`,
      `{"jsonrpc":"2.0","id":["${secret}"],"method":"m"}`,
      `{"jsonrpc":"2.0","id":1,"method":{"${secret}":1}}`,
      `{"jsonrpc":"2.0","id":1,"method":"m","params":"${secret}"}`,
      `{"jsonrpc":"2.0","id":1,"${secret}":"m"}`,
    ]
    for (const text of texts) expect(JSON.stringify(refused(text).answer)).not.toContain(secret)
  })
})

describe('a number that is not finite', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1e999}}', 'params.a'],
    ['{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[0,{"b":-1e400}]}}', 'params.a[1].b'],
    [`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":${'9'.repeat(400)}}}`, 'params.a'],
    ['{"jsonrpc":"2.0","id":1,"result":{"not a name":1E+999}}', 'result["not a name"]'],
    ['[{"jsonrpc":"2.0","id":1e999,"method":"m"}]', '[0].id'],
  ])('is refused with its place: %s', (text, place) => {
    const message = `Invalid message: ${place}: expected a number within ±1.8e308, got a larger one`
    expect(refused(text).error).toMatchObject({ code: -32600, message })
  })

  it('is not what a large number or a string is', () => {
    const text = '{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1.7e308,"b":"1e999","c":1e-999}}'
    expect(decode(text)).toMatchObject({ params: { a: 1.7e308, b: '1e999', c: 0 } })
  })
})

describe('bounds', () => {
  const nested = (depth: number) =>
    `{"jsonrpc":"2.0","id":1,"method":"m","params":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`

  it('accepts the deepest allowed message and rejects a deeper one with its id', () => {
    expect(decode(nested(CODEC_LIMITS.maxDepth - 1))).not.toBeInstanceOf(Refusal)
    expect(refused(nested(CODEC_LIMITS.maxDepth))).toMatchObject({
      id: 1,
      error: { message: 'Invalid message: nested deeper than 128 levels' },
    })
  })

  it.each([
    ['arrays', '[', ']', '[]'],
    ['objects', '{"":', '}', '{}'],
    ['arrays around objects', '[', ']', '{}'],
    ['objects around arrays', '{"":', '}', '[]'],
  ])('finds the first level that is too deep: %s', (_, open, close, inner) => {
    for (let maxDepth = 1; maxDepth <= 40; maxDepth++) {
      const text = (depth: number) => open.repeat(depth - 1) + inner + close.repeat(depth - 1)
      const limits = { ...CODEC_LIMITS, maxDepth }
      const deep = { error: { message: `Invalid message: nested deeper than ${maxDepth} levels` } }
      expect(decode(text(maxDepth + 1), limits)).toMatchObject(deep)
      expect(decode(text(maxDepth), limits)).not.toMatchObject(deep)
    }
  })

  it('rejects a string of brackets', () => {
    const text = '['.repeat(500_000)
    expect(refused(text).error.code).toBe(-32700)
    expect(refused(text + ']'.repeat(500_000)).error.message).toBe('Invalid message: nested deeper than 128 levels')
  })

  it('rejects a string that is too long without parsing it', () => {
    const limits = { ...CODEC_LIMITS, maxLength: 100 }
    expect(refused(`"${'x'.repeat(100)}"`, limits).error.message).toBe('Invalid message: longer than 100 characters')
  })

  it('rejects more values than the limit, in members and in items', () => {
    const limits = { ...CODEC_LIMITS, maxValues: 50 }
    const items = Array.from({ length: 60 }, () => 0)
    const members = Object.fromEntries(items.map((value, n) => [`k${n}`, value]))
    for (const params of [{ items }, members]) {
      const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'm', params })
      expect(refused(text, limits)).toMatchObject({ id: 1, error: { message: 'Invalid message: more than 50 values' } })
    }
  })

  it('rejects an array with too many messages', () => {
    const items = Array.from({ length: 101 }, () => ({ jsonrpc: '2.0', method: 'n' }))
    expect(refused(JSON.stringify(items)).error.message).toBe('Invalid message: an array of more than 100 messages')
  })
})

describe('unusual but valid messages', () => {
  it('lose members named __proto__, in any spelling, and keep all others', () => {
    for (const key of ['__proto__', '\\u005f_proto__', '__proto\\u005F_']) {
      const text = `{"jsonrpc":"2.0","id":1,"method":"m","params":{"${key}":{"polluted":true},"a":[{"${key}":1,"b":2}]}}`
      const message = decode(text) as { params: object }
      expect(Object.keys(message.params)).toEqual(['a'])
      expect(JSON.stringify(message.params)).toBe('{"a":[{"b":2}]}')
      expect(Object.assign({}, message.params)).not.toHaveProperty('polluted')
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('keep the last of several members with the same name', () => {
    expect(decode('{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b"}')).toMatchObject({ id: 2, method: 'b' })
  })

  it('keep lone surrogates as escapes', () => {
    const message = decode('{"jsonrpc":"2.0","method":"n","params":{"a":"\\ud800"}}') as Message
    const text = encode(message)
    expect(text).toContain('\\ud800')
    expect(new TextDecoder('utf-8', { fatal: true }).decode(new TextEncoder().encode(text))).toBe(text)
  })

  it('keep large numbers as JavaScript reads them', () => {
    const message = decode('{"jsonrpc":"2.0","method":"n","params":{"a":123456789012345678901234567890}}')
    expect(message).toEqual({ jsonrpc: '2.0', method: 'n', params: { a: 1.2345678901234568e29 } })
    expect(encode(message as Message)).toContain('{"a":1.2345678901234568e+29}')
  })
})

describe('encoding', () => {
  it('returns one line', () => {
    const text = encode({ jsonrpc: '2.0', method: 'n', params: { a: 'one\ntwo\r\u0000' } })
    expect(text).not.toMatch(/[\n\r]/)
    expect(decode(text)).toEqual({ jsonrpc: '2.0', method: 'n', params: { a: 'one\ntwo\r\u0000' } })
  })

  it('throws an error that names the message that JSON cannot represent', () => {
    const loop: Record<string, unknown> = {}
    loop.self = loop
    expect(() => encode({ jsonrpc: '2.0', method: 'tools/call', params: loop })).toThrow(
      'the parameters of tools/call cannot be written as JSON',
    )
    expect(() => encode({ jsonrpc: '2.0', id: 1, result: { n: 1n } })).toThrow('the response cannot be written as JSON')
  })

  it.each<[string, object]>([
    ['a number id', { jsonrpc: '2.0', id: -7, result: { a: [1, 'é"\n', null] } }],
    ['a string id', { jsonrpc: '2.0', id: '1"\u2028', result: {} }],
    ['members in another order', { result: { a: 1 }, id: 0, jsonrpc: '2.0' }],
    ['an additional member', { jsonrpc: '2.0', id: 1, result: {}, extra: true }],
    ['an invalid id', { jsonrpc: '2.0', id: Number.NaN, result: {} }],
    ['no id', { jsonrpc: '2.0', result: {} }],
    ['an additional error', { jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: 'm' } }],
  ])('encodes a response with %s completely', (_, message) => {
    expect(JSON.parse(encode(message as Message))).toEqual(JSON.parse(JSON.stringify(message)))
  })

  it.each([undefined, () => {}, { toJSON() {} }])('rejects a result that JSON cannot represent', (result) => {
    expect(() => encode({ jsonrpc: '2.0', id: 1, result: result as never })).toThrow('the response cannot be written')
  })

  it.each([
    ['text', { type: 'text', text: 'é"\n'.repeat(20_000) }],
    ['bytes', { type: 'image', data: 'A'.repeat(80_000), mimeType: 'image/png' }],
  ])('encodes a result with a long block of %s like any other', (_, block) => {
    const _meta = { 'io.example/server': { name: 'x' } }
    const content = [{ type: 'text', text: 'short' }, block]
    for (const result of [{ content }, { content, resultType: 'complete', _meta }, { content: [null, 1, block] }]) {
      const message = { jsonrpc: '2.0', id: 'a"', result } as const
      expect(JSON.parse(encode(message))).toEqual(JSON.parse(JSON.stringify(message)))
    }
    const nothing = { content: [block], toJSON: () => undefined }
    expect(() => encode({ jsonrpc: '2.0', id: 1, result: nothing })).toThrow('the response cannot be written')
    const loop: unknown[] = [block]
    loop.push(loop)
    expect(() => encode({ jsonrpc: '2.0', id: 1, result: { content: loop } })).toThrow('the response cannot be written')
  })
})
