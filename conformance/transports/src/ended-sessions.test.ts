import { connect } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { describe, expect, it, onTestFinished } from 'vitest'

function createSubscriptionServer() {
  const subscriptions: string[] = []
  const server = createServer(
    { name: 'notes', version: '1.0.0' },
    {
      listResources: () => ({ resources: [{ uri: 'note://1', name: 'one' }] }),
      readResource: ({ uri }) => ({ contents: [{ uri, text: 'text' }] }),
      subscribe: ({ uri }) => void subscriptions.push(uri),
      unsubscribe: ({ uri }) => void subscriptions.splice(subscriptions.indexOf(uri), 1),
    },
  )
  return { server, subscriptions }
}

describe('a legacy client that closes without unsubscribing', () => {
  it('is unsubscribed in memory', async () => {
    const { server, subscriptions } = createSubscriptionServer()
    const client = await connect(server, { era: 'legacy' })
    await client.subscribe('note://1')
    expect(subscriptions).toEqual(['note://1'])
    await client.close()
    await expect.poll(() => subscriptions).toEqual([])
  })

  it('is unsubscribed over HTTP', async () => {
    const { server, subscriptions } = createSubscriptionServer()
    const { url, close } = await serveHttp(server, { port: 0 })
    onTestFinished(close)
    const client = await connect(http(url), { era: 'legacy' })
    await client.subscribe('note://1')
    expect(subscriptions).toEqual(['note://1'])
    await client.close()
    await expect.poll(() => subscriptions).toEqual([])
  })

  it('causes an onError call if the unsubscribe handler fails', async () => {
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
