/** What goes on when a connection breaks, or when the server has forgotten who is there. */

import assert from 'node:assert/strict'
import { cutAfterProgress, cutListening } from '../cut-stream.ts'
import { eventually, type Features, textOf } from '../feature.ts'

export const brokenConnections: Features = {
  'a stream that is lost is taken up again': {
    since: '2025-03-26',
    // Events have names that begin with one without data, which older clients take for a broken message.
    ourServerSince: '2025-11-25',
    until: '2025-11-25',
    carriers: ['http'],
    async run({ connect, way }) {
      const cut = cutAfterProgress()
      const driver = await connect({ fetch: cut.fetch })
      const seen: number[] = []
      const result = await driver.callTool('slow', {}, { onProgress: ({ progress }) => void seen.push(progress) })
      assert.equal(textOf(result), 'made it')
      assert.equal(cut.cuts, 1, 'the stream was cut')
      assert.deepEqual(cut.resumed.length, 1, 'a stream was asked for by Last-Event-ID')
      assert.deepEqual(seen, way.ours === 'client' ? [1, 2, 3] : [1, ...seen.slice(1)])
    },
  },
  'a stream of changes that is lost is opened again': {
    carriers: ['http'],
    async run({ connect }) {
      const cut = cutListening()
      const driver = await connect({ fetch: cut.fetch })
      await driver.watchTools()
      await eventually('a stream of changes', () => cut.isOpen)
      cut.now()
      driver.heard.lists.length = 0
      await eventually(
        'a change of the list of tools, over another stream',
        () => driver.heard.lists.includes('tools'),
        () => driver.callTool('grow'),
      )
    },
  },
  'a session that the server has forgotten is begun anew': {
    until: '2025-11-25',
    carriers: ['http'],
    async run({ connect, url }) {
      let session = ''
      const driver = await connect({
        async fetch(input, init) {
          const response = await fetch(input, init)
          session = response.headers.get('mcp-session-id') ?? session
          return response
        },
      })
      const headers = { 'mcp-session-id': session, 'mcp-protocol-version': driver.revision }
      const { status } = await fetch(url, { method: 'DELETE', headers })
      assert.ok(status < 300, `the session was not ended: ${status}`)
      assert.match(textOf(await driver.callTool('add', { a: 2, b: 3 })), /5/)
    },
  },
}
