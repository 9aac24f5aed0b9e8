import { mkdtemp, rm } from 'node:fs/promises'
import { connect as dial } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@mcpx/client'
import { overStreams } from '@mcpx/transport-stdio'
import { expect, it, onTestFinished } from 'vitest'
import { createEverything } from '../everything.ts'
import { serveSocket } from './socket.ts'

it.each(['legacy', 'modern'] as const)('serves several clients on its socket in the %s era', async (era) => {
  const folder = await mkdtemp(join(tmpdir(), 'everything-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'socket')
  const stop = new AbortController()
  await serveSocket(await createEverything(), path, stop.signal)
  const transport = overStreams(() => {
    const socket = dial(path)
    return { input: socket, output: socket }
  })
  const clients = await Promise.all([connect(transport, { era }), connect(transport, { era })])
  const [content] = (await clients[1].callTool('add', { a: 1, b: 2 })).content
  expect(content).toMatchObject({ text: '{"sum":3}' })
  stop.abort()
  for (const client of clients) await client.close()
})
