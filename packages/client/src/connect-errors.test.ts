import { describe, expect, it } from 'vitest'
import { scriptedServer } from '../test/scripted-server.ts'
import { connect, connectAll, proxy } from './index.ts'

describe('a target of connect', () => {
  it.each([
    ['https://a.example/mcp', 'connect: expected a connector, got a URL; write connect(http("https://a.example/mcp"))'],
    [
      new URL('https://a.example/mcp'),
      'connect: expected a connector, got a URL; write connect(http("https://a.example/mcp"))',
    ],
    [undefined, 'connect: expected http(url), spawn(command, args) or a server, got nothing'],
    [{}, 'or a server, got object'],
    [() => {}, 'or a server, got function'],
  ])('is refused with a remedy: %s', async (target, message) => {
    await expect(connect(target as never)).rejects.toThrow(message)
    await expect(connect(target as never)).rejects.toThrow(TypeError)
    const failure = await connectAll({ one: target as never }).catch((error: unknown) => error)
    expect(String((failure as AggregateError).errors[0])).toContain(message)
  })

  it('is refused when a call has all parameters in one object', async () => {
    const server = scriptedServer('2026-07-28')
    await using client = await connect(server)
    const loose = client as unknown as Record<
      'callTool' | 'getPrompt' | 'readResource',
      (all?: object) => Promise<void>
    >
    await expect(loose.callTool({ name: 'x' })).rejects.toThrow(
      'callTool(name, args): expected string first, got object',
    )
    await expect(loose.getPrompt({ name: 'x' })).rejects.toThrow('getPrompt(name, args): expected string first')
    await expect(loose.readResource()).rejects.toThrow('readResource(uri): expected string first, got nothing')
    expect(server.asked('tools/call')).toEqual([])
  })

  it.each(['Legacy', '2026-01-01', 'constructor', 5])('is refused with an unknown era: %s', async (era) => {
    const connecting = connect(scriptedServer('2026-07-28'), { era: era as never })
    await expect(connecting).rejects.toThrow(/^era: expected auto, modern, legacy or one of 2024-11-05, .*, got "/)
  })
})

describe('an unknown option', () => {
  const target = () => scriptedServer('2026-07-28', { answers: { 'tools/call': () => ({ content: [] }) } })

  it('is refused by its name when connecting', async () => {
    const options = { timeuot: 3 } as object
    const message = ': there is no option "timeuot"; did you mean "timeout"?'
    await expect(connect(target(), options)).rejects.toThrow(`connect${message}`)
    await expect(connectAll({ one: target() }, options)).rejects.toThrow(`connectAll${message}`)
    const unlike = connect(target(), { callback: 1 } as object)
    await expect(unlike).rejects.toThrow(/"callback"; expected one of clientInfo, era, onElicit, .*timeout/)
    const others = { onElicitation: 'onElicit', onSampling: 'onSample', requestTimeout: 'timeout' }
    for (const [name, meant] of Object.entries(others)) {
      await expect(connect(target(), { [name]: 1 } as object)).rejects.toThrow(`did you mean "${meant}"?`)
    }
  })

  it('is refused by its name in a proxy', async () => {
    await using client = await connect(target())
    expect(() => proxy(client, { report: () => {} } as object)).toThrow(
      'proxy: there is no option "report"; expected one of onWarning',
    )
  })

  it('is refused by its name in a call, which is not sent', async () => {
    const server = target()
    await using client = await connect(server)
    const options = { timeuot: 3 } as object
    const message = /there is no option "timeuot"; did you mean "timeout"/
    await expect(client.callTool('add', {}, options)).rejects.toThrow(message)
    await expect(client.request('tools/call', { name: 'add' }, options)).rejects.toThrow(/^tools\/call: there is no/)
    await expect(client.listTools(options).all()).rejects.toThrow(message)
    await expect(client.discover(options)).rejects.toThrow(message)
    await expect(client.subscribe('a:b', options)).rejects.toThrow(message)
    expect(() => client.listen({}, options)).toThrow(message)
    expect(server.asked('tools/call')).toEqual([])
  })

  it.each(['timeout', 'maxTimeout', 'maxRounds', 'maxInputRequests', 'maxPages', 'cache'])(
    'is refused as a %s that is not a number from 0',
    async (name) => {
      for (const value of [Number.NaN, -1, '5', null]) {
        const message = `${name}: expected a number from 0, got ${value}`
        await expect(connect(target(), { [name]: value })).rejects.toThrow(new RangeError(message))
        await expect(connectAll({ one: target() }, { [name]: value })).rejects.toThrow(new RangeError(message))
      }
    },
  )

  it('is refused as a timeout of a call that is not a number from 0, and the call is not sent', async () => {
    const server = target()
    await using client = await connect(server)
    const options = { timeout: Number.NaN }
    const message = /timeout: expected a number from 0, got NaN$/
    await expect(client.callTool('add', {}, options)).rejects.toThrow(message)
    await expect(client.callTool('add', {}, { maxTimeout: Number.NaN })).rejects.toThrow(
      /^tools\/call: maxTimeout: expected/,
    )
    await expect(client.subscribe('a:b', options)).rejects.toThrow(message)
    expect(() => client.listen({}, options)).toThrow(message)
    expect(server.asked('tools/call')).toEqual([])
  })

  it('is refused as a connectTimeout that is not positive', async () => {
    await expect(connect(target(), { connectTimeout: 0 })).rejects.toThrow(
      'connectTimeout: expected a positive number of ms, or Infinity, got 0',
    )
  })
})

describe('errors of calls', () => {
  const stuck = () => new Promise<never>(() => {})

  it.each(['2025-11-25', '2026-07-28'] as const)('name the tool, the prompt or the resource (%s)', async (revision) => {
    const answers = { 'tools/call': stuck, 'prompts/get': stuck, 'resources/read': stuck, 'tools/list': stuck }
    await using client = await connect(scriptedServer(revision, { answers }))
    const short = { timeout: 10 }
    await expect(client.callTool('add', {}, short)).rejects.toThrow('No response to tools/call "add" within 10 ms')
    await expect(client.getPrompt('review', {}, short)).rejects.toThrow('No response to prompts/get "review" within')
    await expect(client.readResource('a:b', short)).rejects.toThrow('No response to resources/read "a:b" within')
    await expect(client.listTools(short).all()).rejects.toThrow('No response to tools/list within 10 ms')
    const stopped = client.callTool('add', {}, { signal: AbortSignal.timeout(5) })
    await expect(stopped).rejects.toMatchObject({ reason: 'cancelled', message: 'tools/call "add" was cancelled' })
    const stop = AbortSignal.abort()
    await expect(client.callTool('add', {}, { signal: stop })).rejects.toThrow('tools/call "add" was cancelled')
  })

  it('name each server of a group and its reason', async () => {
    const unreachable = (message: string) => ({
      connect() {
        throw new Error(message)
      },
    })
    const group = connectAll({ git: unreachable('no such command'), mail: unreachable('no such host') })
    await expect(group).rejects.toMatchObject({
      name: 'AggregateError',
      message: 'No server could be connected to. "git": no such command; "mail": no such host',
    })
  })
})
