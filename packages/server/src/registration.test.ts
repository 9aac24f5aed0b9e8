import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { approve, audit, createServer, elicit, openUrl, QuestionError, RegistrationError, rateLimit } from './index.ts'

type Loose = Record<'tool' | 'prompt' | 'resource' | 'mount' | 'use', (...args: unknown[]) => unknown>

const info = { name: 's', version: '1' }
const server = () => createServer(info) as unknown as Loose
const run = () => 'done'

describe('a registration with invalid arguments', () => {
  it.each([
    ['tool', [undefined, {}, run], 'Tool: expected .tool(name, {'],
    [
      'tool',
      ['x', run],
      'Tool "x": expected .tool(name, { description, input }, (args, ctx) => …), got (string, function, nothing)',
    ],
    ['tool', ['x', 'What it does', {}, run], 'got (string, string, object)'],
    ['tool', ['x', {}], 'got (string, object, nothing)'],
    ['tool', ['x', { inputSchema: {} }, run], 'Tool "x": there is no option "inputSchema"; did you mean "input"?'],
    ['tool', ['x', { outputSchema: {} }, run], 'did you mean "output"?'],
    ['prompt', ['x', {}, 'Say this'], 'Prompt "x": expected .prompt(name, {'],
    ['prompt', ['x', { argsSchema: {} }, run], 'Prompt "x": there is no option "argsSchema"; did you mean "args"?'],
    ['resource', ['a:b', {}], 'Resource "a:b": expected .resource(uri, {'],
    ['resource', ['a:b', run], 'got (string, function, nothing)'],
    ['mount', ['x', 5], 'mount "x": expected a server or a handler, got number'],
    ['mount', ['x'], 'mount "x": expected a server or a handler, got nothing'],
    ['tool', ['x'.repeat(1025), {}, run], 'xxx…", name: expected at most 1024 characters, got 1025'],
    ['prompt', ['x'.repeat(1025), {}, run], 'xxx…", name: expected at most 1024 characters, got 1025'],
    ['resource', [`a:${'x'.repeat(8191)}`, {}, 'text'], 'xxx…", URI: expected at most 8192 characters, got 8193'],
    ['use', ['x'], 'use: expected (request, ctx, next) => …, got string'],
  ] as const)('is refused with the form that it should have: %s%j', (method, args, message) => {
    const refused = () => server()[method](...args)
    expect(refused).toThrow(RegistrationError)
    expect(refused).toThrow(message)
  })

  it('is rejected', () => {
    const one = createServer(info)
    expect(() => (one as unknown as Loose).tool('x', run)).toThrow(RegistrationError)
    expect(one.handler.listTools).toBeUndefined()
  })

  it('is rejected if plain properties are passed instead of a schema', () => {
    for (const side of ['input', 'output']) {
      expect(() => server().tool('x', { [side]: { a: z.number() } }, run)).toThrow(
        `Tool "x", ${side}: expected one schema, but "a" is a schema too; put the properties into one object schema, such as z.object({ … })`,
      )
    }
    expect(() => server().prompt('x', { args: { a: z.string() } }, run)).toThrow(
      'Prompt "x", args: expected one schema, but "a" is a schema too',
    )
  })
})

describe('a server without a name', () => {
  it.each([[undefined], ['s'], [{}], [{ name: 's' }], [{ version: '1' }]])('is rejected: %j', (given) => {
    expect(() => createServer(given as never)).toThrow('createServer: expected { name, version } as strings')
  })
})

it('rejects a number that is none by the name of its option', () => {
  const expected = 'createServer: stateTtl: expected a number from 0, got NaN'
  expect(() => createServer(info, { stateTtl: Number.NaN })).toThrow(expected)
})

describe('an option that does not exist', () => {
  it.each([
    [{ instruction: 'x' }, 'createServer: there is no option "instruction"; did you mean "instructions"?'],
    [{ limits: { listen: 5 } }, 'createServer, limits: there is no option "listen"; did you mean "listens"?'],
    [
      { limits: { body: 5 } },
      'createServer, limits: there is no option "body"; expected one of listens, subscriptions, rounds',
    ],
    [{ limits: null }, 'createServer, limits: expected an object of options, got null'],
    [{ callTools: () => ({}) }, 'createServer: there is no option "callTools"'],
  ])('is rejected by name: %j', (options, message) => {
    const refused = () => createServer(info, options as object)
    expect(refused).toThrow(RegistrationError)
    expect(refused).toThrow(message)
  })

  it.each([
    ['tool', ['x', { descripton: 'x' }, run], 'Tool "x": there is no option "descripton"; did you mean "description"?'],
    ['prompt', ['x', { input: {} }, run], 'Prompt "x": there is no option "input"; expected one of title,'],
    [
      'resource',
      ['a:b', { mimetype: 'x' }, ''],
      'Resource "a:b": there is no option "mimetype"; did you mean "mimeType"?',
    ],
  ] as const)('is refused by name, of a %s', (method, args, message) => {
    const refused = () => server()[method](...args)
    expect(refused).toThrow(RegistrationError)
    expect(refused).toThrow(message)
  })

  it.each([
    [
      'approve',
      () => approve({ whem: () => true } as object),
      'approve: there is no option "whem"; did you mean "when"?',
    ],
    [
      'audit',
      () => audit(() => {}, { maxlength: 1 } as object),
      'audit: there is no option "maxlength"; did you mean "maxLength"?',
    ],
    [
      'rateLimit',
      () => rateLimit({ limits: 1, window: 1 } as never),
      'rateLimit: there is no option "limits"; did you mean "limit"?',
    ],
  ])('is refused by name, of %s', (_, create, message) => {
    expect(create).toThrow(RegistrationError)
    expect(create).toThrow(message)
  })

  it('is refused by name, of a question', () => {
    const form = z.object({ row: z.number() })
    expect(() => elicit({ message: 'm', schma: form } as never)).toThrow(QuestionError)
    expect(() => elicit({ message: 'm', schma: form } as never)).toThrow(
      'elicit: there is no option "schma"; did you mean "schema"?',
    )
    expect(() => openUrl({ mesage: 'm', url: 'https://example.com' } as never)).toThrow(
      'openUrl: there is no option "mesage"; did you mean "message"?',
    )
  })

  it('is not looked for in options that are not an object', () => {
    expect(() => createServer(info, 5 as never)).toThrow('createServer: expected an object of options, got number')
    expect(() => createServer(info, null as never)).toThrow('createServer: expected an object of options, got null')
  })

  it.each([Number.NaN, -1, '5'])('rejects an invalid limit: %j', (listens) => {
    expect(() => createServer(info, { limits: { listens: listens as number } })).toThrow('limits.listens: expected')
  })

  it('allows additional members of a handler object', () => {
    const notes = new Map([['a', 1]])
    const handler = { notes, listTools: () => ({ tools: [] }), callTool: () => ({ content: [] }) }
    expect(createServer(info, handler).handler.callTool).toBeDefined()
  })
})
