/** What goes on when a connection breaks, or when the server has forgotten who is there. */

import assert from 'node:assert/strict'
import { cutCall, cutListening } from '../cut-stream.ts'
import { eventually, type Features, type Rig, settle, textOf } from '../feature.ts'

export const brokenConnections: Features = {
  'a stream that is lost is taken up again': {
    since: '2025-03-26',
    until: '2025-11-25',
    carriers: ['http'],
    run: resume,
  },
  'a stream of changes that is lost is opened again': {
    carriers: ['http'],
    async run({ connect }) {
      const cut = cutListening()
      const driver = await connect({ fetch: cut.fetch })
      await driver.watchTools()
      await eventually('a stream of changes', () => cut.opened === 1)
      cut.now()
      driver.heard.lists.length = 0
      await eventually(
        'a change of the list of tools, over another stream',
        () => driver.heard.lists.includes('tools'),
        () => driver.callTool('grow'),
      )
      assert.equal(cut.opened, 2, 'the streams of changes that were opened')
    },
  },
  'what changes while a stream of changes is lost is told when it is back': {
    since: '2025-11-25',
    until: '2025-11-25',
    carriers: ['http'],
    run: comeBack,
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
      assert.equal(textOf(await driver.callTool('add', { a: 2, b: 3 })), '{"sum":5}')
    },
  },
}

let tags = 0

/** The resource is nobody else's, so that what is heard of it is of this stream. */
async function comeBack({ connect, way }: Rig): Promise<void> {
  const uri = `item://away-${++tags}`
  let letBack = () => {}
  const cut = cutListening(
    new Promise((resolve) => {
      letBack = resolve
    }),
  )
  const driver = await connect({ fetch: cut.fetch })
  const { updated } = driver.heard
  const touch = () => driver.callTool('touch', { uri })
  await driver.watch(uri)
  await eventually('an update', () => updated.includes(uri), touch)
  cut.now()
  await eventually('another stream was asked for', () => cut.asked === 2)
  // The server has to notice, and what is told may still be on its way.
  await settle()
  updated.length = 0
  await touch()
  await touch()
  await settle()
  assert.equal(updated.length, 0, 'how much was told while nobody could be')
  letBack()
  await eventually('what was missed was told', () => updated.includes(uri))
  await settle()
  // Our client says of all that it watches that it may have changed, too.
  if (way.ours === 'server') assert.deepEqual(updated, [uri], 'what was told when the stream was back')
  assert.equal(cut.opened, 2, 'the streams of changes that were opened')
}

/** Two steps are told before the stream is lost, two while it is, and two when it is there again: each comes once, and in order. */
async function resume({ connect }: Rig): Promise<void> {
  const tag = `parts ${++tags}`
  const cut = cutCall('parts')
  const driver = await connect({ fetch: cut.fetch })
  const release = (what: string) => driver.callTool('release', { tag: `${tag} ${what}` })
  const seen: number[] = []
  const hears = (count: number) => eventually(`step ${count} was heard`, () => seen.length >= count)
  const call = driver.callTool('parts', { tag }, { onProgress: ({ progress }) => void seen.push(progress) })
  // Where a step does not come, the call ends when nobody looks at it any more.
  call.catch(() => {})
  await hears(2)
  cut.now()
  await eventually('the rest was asked for', () => cut.resumed.length > 0)
  await release('lost')
  let told = false
  await eventually(
    'two steps were told to nobody',
    () => told,
    async () => {
      told = JSON.parse(textOf(await driver.callTool('waits', { tag: `${tag} told` }))).started
    },
  )
  cut.reopen()
  await hears(4)
  await release('back')
  await hears(6)
  await release('over')
  assert.equal(textOf(await call), 'made it')
  assert.deepEqual(seen, [1, 2, 3, 4, 5, 6], 'what the caller heard')
  assert.deepEqual(
    cut.streams,
    [
      [1, 2],
      [3, 4, 5, 6, 'answer'],
    ],
    'what came over each stream',
  )
  assert.equal(cut.resumed.length, 1, 'how often the rest was asked for')
}
