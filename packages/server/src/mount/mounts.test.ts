import { describe, expect, it } from 'vitest'
import { createServer, RegistrationError, type Server } from '../index.ts'

const server = (name: string) => createServer({ name, version: '1' }).tool('t', {}, () => name)

describe('a server that is mounted in itself', () => {
  it('is rejected without side effects', async () => {
    const a = server('a')
    expect(() => a.mount('x', a)).toThrow(RegistrationError)
    expect(() => a.mount('x', a.handler)).toThrow('mount: "x" would mount the server inside itself')
    const page = (await a.handler.listTools?.({}, {} as never)) as { tools: readonly { name: string }[] }
    expect(page.tools.map(({ name }) => name)).toEqual(['t'])
  })

  it('is rejected through other servers, which are named', () => {
    const [a, b, c] = [server('a'), server('b'), server('c')]
    a.mount('b', b)
    b.mount('c', c)
    expect(() => c.mount('a', a)).toThrow('mount: "a.b.c" would mount the server inside itself')
    expect(() => c.mount('b', b)).toThrow('mount: "b.c" would mount the server inside itself')
  })

  it('may be mounted in others twice', async () => {
    const [a, b, c] = [server('a'), server('b'), server('c')]
    a.mount('c', c).mount('b', b.mount('c', c)).mount('again', c)
    const page = (await a.handler.listTools?.({}, {} as never)) as { tools: readonly { name: string }[] }
    expect(page.tools.map(({ name }) => name)).toEqual(['t', 'c.t', 'b.t', 'b.c.t', 'again.t'])
  })

  it('is searched once in each server', () => {
    let inner: Server = createServer({ name: 'innermost', version: '1' })
    for (let depth = 0; depth < 60; depth++) {
      const outer = createServer({ name: `${depth}`, version: '1' })
      inner = outer.mount('a', inner).mount('b', inner)
    }
    const outermost = server('outermost')
    expect(outermost.mount('x', inner)).toBe(outermost)
  })
})
