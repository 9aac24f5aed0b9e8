/** Malformed requests in bytes: the server responds with specific errors and keeps working. */

import { delay } from '@mcpx/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectResources, type Host, killHosts, startHost } from './hosts.fixture.ts'
import { dial, openSession, type RawEra, raw, rawCall, rawLegacy, rawModern } from './sockets.fixture.ts'

let host: Host
const eras: Record<'modern' | 'legacy', RawEra> = { modern: rawModern, legacy: rawModern }

beforeAll(async () => {
  host = await startHost({ serve: { limits: { body: 5_000 } } })
  eras.legacy = rawLegacy(await openSession(host.url))
})
afterAll(killHosts)

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))

/** Returns the text content of all responses in order. */
const answersIn = (text: string) => [...text.matchAll(/"text":"([^"]*)"/g)].map(([, said]) => said)
const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))

describe.each(['modern', 'legacy'] as const)('in the %s era, a server', (era) => {
  it('reads a request that is split at any byte', async () => {
    const { socket, until } = await dial(host.port)
    const length = rawCall(eras[era], 1_000, 'echo', { text: 'é-1000' }).length
    for (let at = 1; at < length; at++) {
      const bytes = Buffer.from(rawCall(eras[era], 1_000 + at, 'echo', { text: `é-${1_000 + at}` }))
      socket.write(bytes.subarray(0, at))
      await turn()
      socket.write(bytes.subarray(at))
      await until(new RegExp(`-${1_000 + at}"`))
    }
    expect(answersIn(await until(/./))).toHaveLength(length - 1)
    socket.destroy()
  })

  it('reads a request that arrives byte by byte', async () => {
    const { socket, until } = await dial(host.port)
    for (const byte of Buffer.from(rawCall(eras[era], 1, 'echo', { text: 'slowly' }))) {
      socket.write(Buffer.of(byte))
      await turn()
    }
    expect(answersIn(await until(/slowly/))).toEqual(['slowly'])
    socket.destroy()
  })

  it('answers pipelined requests in order, including streams and errors', async () => {
    const { socket, until } = await dial(host.port)
    const rawEra = eras[era]
    socket.write(
      [
        rawCall(rawEra, 1, 'count', { times: 3, pause: 20 }, { progressToken: 't' }),
        rawCall(rawEra, 2, 'echo', { text: 'second' }),
        raw('{', rawEra.headers('echo')),
        raw('{}', { 'content-type': 'text/plain' }),
        rawCall(rawEra, 3, 'echo', { text: 'last' }),
      ].join(''),
    )
    const text = await until(/last/)
    expect(statusesIn(text)).toEqual([200, 200, 400, 415, 200])
    expect(answersIn(text)).toEqual([`counted by ${host.pid}`, 'second', 'last'])
    expect(text.match(/notifications\/progress/g)).toHaveLength(3)
    socket.destroy()
  })

  it('answers a half-closed connection if the result is ready, and otherwise treats it as closed [S-137]', async () => {
    const quick = await dial(host.port)
    quick.socket.end(rawCall(eras[era], 1, 'echo', { text: 'heard' }))
    expect(answersIn(await quick.until(/"text"/))).toEqual(['heard'])
    await quick.closed
    const { calls, aborted } = await host.look()
    const slow = await dial(host.port)
    slow.socket.end(rawCall(eras[era], 1, 'count', { times: 4, pause: 20 }, { progressToken: 't' }))
    await slow.closed
    await delay(100)
    const after = await host.look()
    expect(after.calls).toBe(calls + 1)
    expect(after.aborted).toBe(era === 'modern' ? aborted + 1 : aborted)
  })
})

describe('a malformed request', () => {
  const body = rawModern.body(1, 'echo', { text: 'x' })
  const head = rawModern.headers('echo')
  const chunked = { ...head, 'content-length': undefined, 'transfer-encoding': 'chunked' }

  it.each([
    ['both a length and chunks', raw(body, { ...head, 'transfer-encoding': 'chunked' })],
    ['two lengths', raw(body, { ...head, 'Content-Length': '3' })],
    ['a negative length', raw(body, { ...head, 'content-length': '-1' })],
    ['a length that is not a number', raw(body, { ...head, 'content-length': '1e3' })],
    ['an unknown encoding', raw(body, { ...head, 'content-length': undefined, 'transfer-encoding': 'gzip' })],
    ['a chunk without a size', raw(`x\r\n${body}\r\n0\r\n\r\n`, chunked)],
    ['a chunk that is larger than its size', raw(`3\r\n${body}\r\n0\r\n\r\n`, chunked)],
    ['no colon in a header', 'POST /mcp HTTP/1.1\r\nhost 127.0.0.1\r\n\r\n'],
    ['a folded header', 'POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n x: y\r\n\r\n'],
    ['no HTTP at all', 'GARBAGE\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['an unknown HTTP version', raw(body, head).replace('HTTP/1.1', 'HTTP/9.9')],
  ])('with %s is rejected, and its connection is closed', async (_, text) => {
    const { socket, closed } = await dial(host.port)
    socket.write(text, 'latin1')
    expect(await closed).toMatch(/^HTTP\/1\.1 400[\s\S]*\r\n\r\n\{"jsonrpc":"2\.0","error".*\(HPE_\w+\)"\}\}$/)
  })

  it('without a host is rejected', async () => {
    const { socket, closed } = await dial(host.port)
    socket.write('POST /mcp HTTP/1.1\r\n\r\n')
    expect(statusesIn(await closed)).toEqual([400])
  })

  it('that is shorter than its length is rejected', async () => {
    const { socket, closed } = await dial(host.port)
    socket.end(raw(body, { ...head, 'content-length': '400' }))
    const text = await closed
    expect(statusesIn(text)).toEqual([400])
  })

  it('that is longer than its length is answered, and the rest is rejected', async () => {
    const { socket, closed } = await dial(host.port)
    socket.write(raw(`${body}tail`, { ...head, 'content-length': String(body.length) }))
    socket.end('\r\n\r\n')
    const text = await closed
    expect(statusesIn(text)).toEqual([200, 400])
    expect(text).toContain('"text":"x"')
    expect(text).toMatch(/\(HPE_\w+\)"\}\}$/)
  })

  it('with a length above the limit is rejected before its body arrives, with the number and the option', async () => {
    const { socket, closed } = await dial(host.port)
    socket.write(raw('', { ...head, 'content-length': '999999999' }))
    expect(await closed).toMatch(/^HTTP\/1\.1 413[\s\S]*larger than 5000 bytes \(limits\.body\)/)
  })

  it('with headers above the limit is rejected with the number and the option', async () => {
    for (const x of ['y'.repeat(20_000), 'y'.repeat(200_000)]) {
      const { socket, closed } = await dial(host.port)
      socket.write(raw(body, { ...head, x }))
      expect(await closed).toMatch(/^HTTP\/1\.1 431[\s\S]*larger than 16384 bytes \(maxHeaderSize\)/)
    }
  })

  it('with chunks above the limit is rejected at once', async () => {
    const { socket, until } = await dial(host.port)
    socket.write(raw('', chunked))
    for (let n = 0; n < 60; n++) socket.write(`64\r\n${'x'.repeat(100)}\r\n`)
    expect(await until(/limits\.body/)).toMatch(/^HTTP\/1\.1 413/)
    socket.destroy()
  })
})

describe('ten thousand malformed requests', () => {
  it('do not harm the server: valid requests in between are answered in both eras', async () => {
    const bad = badRequests()
    const before = [] as number[]
    for (let round = 1; round <= 100; round++) {
      await Promise.all(Array.from({ length: 100 }, (_, n) => send(bad[(round + n) % bad.length] as string, n)))
      for (const era of [eras.modern, eras.legacy]) {
        const { socket, until } = await dial(host.port)
        socket.write(rawCall(era, round, 'echo', { text: `good ${round}` }))
        expect(answersIn(await until(/good/))).toEqual([`good ${round}`])
        socket.destroy()
      }
      if (round === 30 || round === 100) before.push((await host.look()).heap)
    }
    const [early = 0, late = 0] = before
    console.log(
      `heap after 3,000: ${(early / 2 ** 20).toFixed(1)} MiB, after 10,000: ${(late / 2 ** 20).toFixed(1)} MiB`,
    )
    expect(late - early).toBeLessThan(2 * 2 ** 20)
    await expectResources(host, { TCPSocketWrap: 0 })
    expect(host.stderr).toBe('')
    expect(host.child.exitCode).toBeNull()
  }, 30_000)

  function badRequests(): string[] {
    const { modern, legacy } = eras
    const both = [modern, legacy].flatMap((rawEra) => {
      const good = rawEra.body(1, 'echo', { text: 'x' })
      const head = rawEra.headers('echo')
      return [
        raw('{', head),
        raw('[]', head),
        raw('"\ud800"', head),
        raw(`${'['.repeat(2_000)}${']'.repeat(2_000)}`, head),
        raw(good.replace('"2.0"', '"1.0"'), head),
        raw(good.replace('"id":1', '"id":null'), head),
        raw(good.replace('"params"', '"__proto__"'), head),
        raw(good, { ...head, 'content-type': 'text/plain' }),
        raw(good, { ...head, host: 'evil.example.com' }),
        raw(good, { ...head, origin: 'http://evil.example.com' }),
        raw(good, { ...head, 'mcp-protocol-version': '1999-01-01' }),
        raw(good, { ...head, 'content-length': '999999999' }),
        raw(good, { ...head, 'content-length': String(good.length + 10) }),
        raw('x'.repeat(6_000), head),
        raw(good, { ...head, x: 'y'.repeat(20_000) }),
        raw(good.replace('echo', 'none'), head),
      ]
    })
    return [
      ...both,
      raw(modern.body(1, 'echo'), { ...modern.headers('echo'), 'mcp-name': 'other' }),
      raw(legacy.body(1, 'echo'), { ...legacy.headers('echo'), 'mcp-session-id': 'none' }),
      'GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nlast-event-id: x\r\n\r\n',
      'DELETE /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nmcp-session-id: x\r\n\r\n',
      'OPTIONS * HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
      'POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n',
      'GARBAGE\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    ]
  }

  /** Sends a request; some clients half-close the connection, some close it before the response. */
  async function send(text: string, n: number): Promise<void> {
    const { socket, closed } = await dial(host.port)
    if (n % 3 === 0) {
      socket.write(text, 'latin1')
      await turn()
      socket.destroy()
    } else socket.end(text, 'latin1')
    await closed
  }
})
