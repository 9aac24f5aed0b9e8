import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { Connection } from './connection.ts'
import { messagesIn } from './requests.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** A server that answers each request with these pieces, each in a separate packet. */
async function answering(...pieces: string[]): Promise<Connection> {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {})
    socket.on('data', async () => {
      for (const piece of pieces) {
        socket.write(piece)
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    })
  })
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return Connection.open((server.address() as AddressInfo).port)
}

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

describe('a connection', () => {
  it.each([
    ['at once', ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello']],
    ['in pieces', ['HTTP/1.1 2', '00 OK\r\ncontent-length: 5\r', '\n\r\nhe', 'l', 'lo']],
    ['in chunks', [`${chunked}3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n`]],
    ['in chunks that are cut', [chunked, '3', '\r\nhe', 'l\r', '\n2\r\nlo', '\r\n0\r\n', '\r\n']],
  ])('reads a body that comes %s, and then the next', async (_, pieces) => {
    const connection = await answering(...pieces)
    for (let time = 0; time < 3; time++) {
      const { status, body, bytes } = await connection.request('x')
      expect([status, body?.toString(), bytes]).toEqual([200, 'hello', 5])
    }
    connection.close()
  })

  it('keeps the case of headers, and supports responses without a body', async () => {
    const connection = await answering('HTTP/1.1 202 Accepted\r\nMcp-Session-Id: AbC\r\nContent-Length: 0\r\n\r\n')
    const { headers, status } = await connection.request('x')
    expect(status).toBe(202)
    expect(headers).toContain('AbC')
    connection.close()
  })

  it('fails pending requests when the server closes the connection', async () => {
    const connection = await answering('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel')
    const waiting = connection.request('x')
    setTimeout(() => connection.socket.destroy(), 10)
    await expect(waiting).rejects.toThrow('The server closed the connection')
  })
})

describe('a reply', () => {
  const reply = (text: string, headers = '', status = 200) => ({
    status,
    headers,
    body: Buffer.from(text),
    bytes: text.length,
  })

  it('contains one message, or those of its events', () => {
    expect(messagesIn(reply('{"id":1}'))).toEqual([{ id: 1 }])
    const events = ': open\n\nevent: message\ndata: {"method":"a"}\n\ndata: {"id":1}\n\n'
    expect(messagesIn(reply(events, '\r\nContent-Type: text/event-stream'))).toEqual([{ method: 'a' }, { id: 1 }])
    expect(messagesIn(reply(''))).toEqual([])
  })

  it('throws for an error status', () => {
    expect(() => messagesIn(reply('no', '', 500))).toThrow('HTTP 500: no')
  })
})
