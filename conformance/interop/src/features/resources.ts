/** Resources, prompts and completion. */

import assert from 'node:assert/strict'
import { eventually, expectError, type Features, type Rig, settle, textOf } from '../feature.ts'
import type { Pairing } from '../pairings.ts'
import { PIXEL } from '../servers/shop-data.ts'

/** The expected error codes of a missing resource. Before 2026-07-28 both codes are in use, and clients must accept both. Our
 * server sends -32002, which the specification recommends; the client of 2.x converts it to -32602.
 */
function codesOf({ ours, peer, revision }: Pairing): number[] {
  if (revision > '2026') return [-32602]
  if (ours === 'client') return [-32002, -32602]
  return [peer === 'sdk-1' ? -32002 : -32602]
}

export const resources: Features = {
  'resources are listed over pages': {
    async run({ driver }) {
      const uris = (await driver.listResources()).map(({ uri }) => uri)
      assert.deepEqual(uris, ['note://1', 'note://2', 'note://3', 'note://4', 'note://5', 'blob://pixel'])
    },
  },
  'templates are listed': {
    async run({ driver }) {
      const templates = (await driver.listTemplates()).map(({ uriTemplate }) => uriTemplate)
      assert.deepEqual(templates, ['item://{id}'])
    },
  },
  'resources are read': {
    async run({ driver }) {
      const [note] = (await driver.readResource('note://3')).contents
      const [pixel] = (await driver.readResource('blob://pixel')).contents
      const [item] = (await driver.readResource('item://apple')).contents
      assert.deepEqual(note, { uri: 'note://3', mimeType: 'text/plain', text: 'Note 3' })
      assert.deepEqual(pixel, { uri: 'blob://pixel', mimeType: 'image/png', blob: PIXEL })
      assert.deepEqual(item, { uri: 'item://apple', mimeType: 'text/plain', text: 'Item apple' })
    },
  },
  'a missing resource is rejected': {
    async run({ driver, pairing }) {
      await expectError(driver.readResource('note://none'), ...codesOf(pairing))
    },
  },
  'the client receives updates of a resource until it unsubscribes': {
    run: (rig) => runExclusively(() => receiveUpdates(rig)),
  },
  'the client receives list changes': {
    async run({ driver }) {
      await driver.watchTools()
      let grown = ''
      const grow = async () => {
        grown = textOf(await driver.callTool('grow'))
      }
      await eventually('a change of the list of tools', () => driver.received.lists.includes('tools'), grow)
      // A concurrent pairing may have changed the list.
      if (grown === '') await grow()
      const names = (await driver.listTools()).map(({ name }) => name)
      assert.ok(names.includes(grown), `${grown} is listed`)
      assert.equal(textOf(await driver.callTool(grown)), 'ripe')
    },
  },
  'prompts are listed and returned with arguments': {
    async run({ driver }) {
      const prompts = await driver.listPrompts()
      const [prompt] = prompts
      const { messages } = await driver.getPrompt('greet', { name: 'Ada', style: 'formal' })
      assert.deepEqual(
        prompts.map(({ name }) => name),
        ['greet', 'interview'],
      )
      assert.deepEqual(
        prompt?.arguments?.map(({ name, required = false }) => ({ name, required })),
        [
          { name: 'name', required: true },
          { name: 'style', required: false },
        ],
      )
      assert.deepEqual(messages, [{ role: 'user', content: { type: 'text', text: 'Greet Ada, formal' } }])
    },
  },
  'a prompt without a required argument is rejected': {
    async run({ driver }) {
      await expectError(driver.getPrompt('greet', { style: 'formal' }), -32602)
    },
  },
  'arguments of prompts are completed': {
    async run({ driver }) {
      const ref = { type: 'ref/prompt' as const, name: 'greet' }
      const { completion } = await driver.complete({ ref, argument: { name: 'name', value: 'A' } })
      assert.deepEqual(completion.values, ['Ada', 'Alan'])
    },
  },
  'variables of templates are completed': {
    async run({ driver }) {
      const ref = { type: 'ref/resource' as const, uri: 'item://{id}' }
      const { completion } = await driver.complete({ ref, argument: { name: 'id', value: 'ap' } })
      assert.deepEqual(completion.values, ['apple', 'apricot'])
    },
  },
  'a completion receives the other arguments': {
    since: '2025-06-18',
    async run({ driver }) {
      const ref = { type: 'ref/prompt' as const, name: 'greet' }
      const argument = { name: 'style', value: '' }
      const context = { arguments: { name: 'Ada' } }
      assert.deepEqual((await driver.complete({ ref, argument, context })).completion.values, ['formal'])
      assert.deepEqual((await driver.complete({ ref, argument })).completion.values, ['formal', 'friendly'])
    },
  },
}

let last: Promise<unknown> = Promise.resolve()

/** Runs checks one after the other, because concurrent pairings over HTTP update the same resources. */
function runExclusively(run: () => Promise<void>): Promise<void> {
  const turn = last.then(run)
  last = turn.catch(() => {})
  return turn
}

async function receiveUpdates({ driver }: Rig): Promise<void> {
  const { updated } = driver.received
  const touch = (uri: string) => driver.callTool('touch', { uri })
  const stop = await driver.watch('note://1')
  await eventually(
    'an update of the subscribed resource',
    () => updated.length > 0,
    () => touch('note://1'),
  )
  await settle()
  updated.length = 0
  await touch('note://1')
  await touch('note://2')
  await settle()
  assert.deepEqual(updated, ['note://1'], 'the updates after one change of this resource and one of another')
  await stop()
  await settle()
  updated.length = 0
  await touch('note://1')
  await settle()
  assert.deepEqual(updated, [], 'the updates after unsubscribing')
}
