/** Transcripts of our server, in both eras, over memory, HTTP and stdio. */

import { type Client, connect } from '@mcpx/client'
import { ConnectionError, type Connector, type Era, type Revision } from '@mcpx/protocol'
import type { Server } from '@mcpx/server'
import {
  answers,
  compareTranscript,
  createTest,
  recordTranscript,
  replayTranscript,
  type Transcript,
} from '@mcpx/testing/server'
import { expect, it } from 'vitest'
import { createHost } from './host.fixture.ts'
import { connectors } from './kit.fixture.ts'

const test = createTest(it, () => createHost().server, { transports: connectors })

async function play(
  connector: Connector,
  era: Era | Revision,
  run: (client: Client) => Promise<unknown>,
): Promise<unknown> {
  await using client = await connect(connector, { era, ...answers({ who: { name: 'Ada' } }).callbacks })
  return await run(client)
}

/** Uses tools, a question, progress, a subscription and an error. Returns all that the client received. */
async function useServer(client: Client): Promise<unknown> {
  const received: unknown[] = []
  const changes = client.listen({ resourceSubscriptions: ['note://watched'] })[Symbol.asyncIterator]()
  const change = changes.next()
  received.push((await client.listTools().all()).map(({ name }) => name))
  received.push(await client.callTool('echo', { text: 'é' }))
  received.push(await client.callTool('count', { times: 3 }, { onProgress: (each) => void received.push(each) }))
  received.push(
    String((await client.callTool('ask')).content.map((block) => 'text' in block && block.text)).split(' ')[0],
  )
  received.push(await client.callTool('unknown').catch((error: Error) => error.message))
  received.push(await client.callTool('touch'), (await change).value)
  return received
}

test('are replayed without the server, and the server still behaves as recorded', async ({
  era,
  transport,
  server,
}) => {
  const open = connectors[transport] as (host: Server) => Connector | Promise<Connector>
  let transcript: Transcript | undefined
  const recorded = await play(
    recordTranscript(await open(server), (saved) => (transcript = saved)),
    era,
    useServer,
  )
  expect(recorded).toContain('accept')
  expect(recorded).toContainEqual({ kind: 'resource', uri: 'note://watched' })
  const saved = transcript as Transcript
  expect(await play(replayTranscript(saved), era, useServer)).toEqual(recorded)
  const options = {
    redact: (_: string, value: unknown) => (typeof value === 'string' ? value.replace(/by \d+$/, 'by it') : value),
  }
  expect(await play(compareTranscript(await open(server), saved, options), era, useServer)).toHaveLength(
    (recorded as unknown[]).length,
  )
  const echo = (text: string) => (each: Client) => each.callTool('echo', { text }).catch((error: unknown) => error)
  const other = await play(compareTranscript(await open(server), saved, options), era, echo('other'))
  expect(other).toBeInstanceOf(ConnectionError)
  expect(String(other)).toContain('params.arguments.text: expected "é", got "other"')
})
