/** Cut connections and deleted sessions. */

import assert from 'node:assert/strict'
import { cutCall, cutListening } from '../cut-stream.ts'
import { eventually, type Features, type Rig, settle, textOf } from '../feature.ts'

export const brokenConnections: Features = {
  'a cut stream is resumed': {
    since: '2025-03-26',
    until: '2025-11-25',
    transports: ['http'],
    run: resume,
  },
  'a cut stream of changes is reopened': {
    transports: ['http'],
    async run({ connect }) {
      const cut = cutListening()
      const driver = await connect({ fetch: cut.fetch })
      await driver.watchTools()
      await eventually('a stream of changes', () => cut.opened === 1)
      cut.now()
      driver.received.lists.length = 0
      await eventually(
        'a change of the list of tools, over another stream',
        () => driver.received.lists.includes('tools'),
        () => driver.callTool('grow'),
      )
      assert.equal(cut.opened, 2, 'the number of opened streams of changes')
    },
  },
  'changes during a cut are sent when the stream is reopened': {
    since: '2025-11-25',
    until: '2025-11-25',
    transports: ['http'],
    run: receiveMissedChanges,
  },
  'a deleted session is opened again': {
    until: '2025-11-25',
    transports: ['http'],
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
      assert.ok(status < 300, `DELETE of the session: expected success, got ${status}`)
      assert.equal(textOf(await driver.callTool('add', { a: 2, b: 3 })), '{"sum":5}')
    },
  },
}

let tags = 0

/** The resource is unique, so that its updates belong to this stream. */
async function receiveMissedChanges({ connect, pairing }: Rig): Promise<void> {
  const uri = `item://away-${++tags}`
  let reopen = () => {}
  const cut = cutListening(
    new Promise((resolve) => {
      reopen = resolve
    }),
  )
  const driver = await connect({ fetch: cut.fetch })
  const { updated } = driver.received
  const touch = () => driver.callTool('touch', { uri })
  await driver.watch(uri)
  await eventually('an update', () => updated.includes(uri), touch)
  cut.now()
  await eventually('another stream is requested', () => cut.requested === 2)
  // Waits until the server has noticed the cut and pending messages have arrived.
  await settle()
  updated.length = 0
  await touch()
  await touch()
  await settle()
  assert.equal(updated.length, 0, 'the number of updates during the cut')
  reopen()
  await eventually('the missed update', () => updated.includes(uri))
  await settle()
  // Our client also reports every subscribed resource as changed.
  if (pairing.ours === 'server') assert.deepEqual(updated, [uri], 'the updates after the stream was reopened')
  assert.equal(cut.opened, 2, 'the number of opened streams of changes')
}

/** Checks that progress before, during and after a cut arrives once and in order. */
async function resume({ connect }: Rig): Promise<void> {
  const tag = `parts ${++tags}`
  const cut = cutCall('parts')
  const driver = await connect({ fetch: cut.fetch })
  const release = (name: string) => driver.callTool('release', { tag: `${tag} ${name}` })
  const pattern: number[] = []
  const waitForSteps = (count: number) => eventually(`step ${count}`, () => pattern.length >= count)
  const call = driver.callTool('parts', { tag }, { onProgress: ({ progress }) => void pattern.push(progress) })
  // If a step is missing, the feature has already failed when the call rejects.
  call.catch(() => {})
  await waitForSteps(2)
  cut.now()
  await eventually('the stream is resumed', () => cut.resumed.length > 0)
  await release('lost')
  let sentDuringCut = false
  await eventually(
    'two steps during the cut',
    () => sentDuringCut,
    async () => {
      sentDuringCut = JSON.parse(textOf(await driver.callTool('waits', { tag: `${tag} told` }))).started
    },
  )
  cut.reopen()
  await waitForSteps(4)
  await release('back')
  await waitForSteps(6)
  await release('over')
  assert.equal(textOf(await call), 'made it')
  assert.deepEqual(pattern, [1, 2, 3, 4, 5, 6], 'the progress that the client received')
  assert.deepEqual(
    cut.streams,
    [
      [1, 2],
      [3, 4, 5, 6, 'answer'],
    ],
    'the events of each stream',
  )
  assert.equal(cut.resumed.length, 1, 'the number of resumptions')
}
