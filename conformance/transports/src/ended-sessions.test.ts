import { connect } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { describe, expect, it, onTestFinished } from 'vitest'

function watched() {
  const watching: string[] = []
  const server = createServer(
    { name: 'notes', version: '1.0.0' },
    {
      listResources: () => ({ resources: [{ uri: 'note://1', name: 'one' }] }),
      readResource: ({ uri }) => ({ contents: [{ uri, text: 'text' }] }),
      subscribe: ({ uri }) => void watching.push(uri),
      unsubscribe: ({ uri }) => void watching.splice(watching.indexOf(uri), 1),
    },
  )
  return { server, watching }
}

describe('a client of the legacy era that goes without unsubscribing', () => {
  it('leaves nothing watched behind on a pipe', async () => {
    const { server, watching } = watched()
    const client = await connect(server, { era: 'legacy' })
    await client.subscribe('note://1')
    expect(watching).toEqual(['note://1'])
    await client.close()
    await expect.poll(() => watching).toEqual([])
  })

  it('leaves nothing watched behind over HTTP', async () => {
    const { server, watching } = watched()
    const { url, close } = await serveHttp(server, { port: 0 })
    onTestFinished(close)
    const client = await connect(http(url), { era: 'legacy' })
    await client.subscribe('note://1')
    expect(watching).toEqual(['note://1'])
    await client.close()
    await expect.poll(() => watching).toEqual([])
  })

  it('is told of when the handler fails to let go, and harms nobody', async () => {
    const problems: unknown[] = []
    const server = createServer(
      { name: 'notes', version: '1.0.0' },
      {
        onError: (error: unknown) => void problems.push(error),
        listResources: () => ({ resources: [] }),
        readResource: ({ uri }) => ({ contents: [{ uri, text: 'text' }] }),
        subscribe: () => {},
        unsubscribe: () => {
          throw new Error('stuck')
        },
      },
    )
    const client = await connect(server, { era: 'legacy' })
    await client.subscribe('note://1')
    await client.close()
    await expect.poll(() => problems).toMatchObject([{ message: 'stuck' }])
  })
})
