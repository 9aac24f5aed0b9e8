import { describe, expect, it } from 'vitest'
import { scriptedServer } from '../test/scripted-server.ts'
import { connect, connectAll } from './index.ts'

describe('what cannot be connected to', () => {
  it.each([
    ['https://a.example/mcp', 'connect: expected a connector, got a URL; write connect(http("https://a.example/mcp"))'],
    [
      new URL('https://a.example/mcp'),
      'connect: expected a connector, got a URL; write connect(http("https://a.example/mcp"))',
    ],
    [undefined, 'connect: expected http(url), spawn(command, args) or a server, got nothing'],
    [{}, 'or a server, got object'],
    [() => {}, 'or a server, got function'],
  ])('is refused with what to write: %s', async (target, message) => {
    await expect(connect(target as never)).rejects.toThrow(message)
    await expect(connect(target as never)).rejects.toThrow(TypeError)
    const failure = await connectAll({ one: target as never }).catch((error: unknown) => error)
    expect(String((failure as AggregateError).errors[0])).toContain(message)
  })

  it('is told to who puts everything in one object', async () => {
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

  it.each(['Legacy', '2026-01-01', 'constructor', 5])('is an era that does not exist: %s', async (era) => {
    const connecting = connect(scriptedServer('2026-07-28'), { era: era as never })
    await expect(connecting).rejects.toThrow(/^era: expected auto, modern, legacy or one of 2024-11-05, .*, got "/)
  })
})
