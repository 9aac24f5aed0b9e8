/** Resources, prompts and completion. */

import assert from 'node:assert/strict'
import { eventually, type Features, type Rig, refusedWith, settle, textOf } from '../feature.ts'
import { PIXEL } from '../servers/goods.ts'
import type { Way } from '../ways.ts'

/**
 * Before 2026-07-28 both codes are in use, and clients have to take either. Our server gives the one that was written down; the
 * client of 2.x gives it to its users as the other.
 */
function codesOf({ ours, peer, revision }: Way): number[] {
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
  'a resource that is not there is refused': {
    async run({ driver, way }) {
      await refusedWith(driver.readResource('note://none'), ...codesOf(way))
    },
  },
  'updates of a resource come from subscribing until unsubscribing': {
    run: (rig) => inTurn(() => hearUpdates(rig)),
  },
  'changes of a list are told': {
    async run({ driver }) {
      await driver.watchTools()
      let grown = ''
      const grow = async () => {
        grown = textOf(await driver.callTool('grow'))
      }
      await eventually('a change of the list of tools', () => driver.heard.lists.includes('tools'), grow)
      // Others may have had it change.
      if (grown === '') await grow()
      const names = (await driver.listTools()).map(({ name }) => name)
      assert.ok(names.includes(grown), `${grown} is listed`)
      assert.equal(textOf(await driver.callTool(grown)), 'ripe')
    },
  },
  'prompts are listed and filled in': {
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
  'a prompt without what it needs is refused': {
    async run({ driver }) {
      await refusedWith(driver.getPrompt('greet', { style: 'formal' }), -32602)
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
  'completion knows what is filled in already': {
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

/** Others touch the same resources of a server that is reached by URL: who counts updates has to be alone with them. */
function inTurn(run: () => Promise<void>): Promise<void> {
  const turn = last.then(run)
  last = turn.catch(() => {})
  return turn
}

async function hearUpdates({ driver }: Rig): Promise<void> {
  const { updated } = driver.heard
  const touch = (uri: string) => driver.callTool('touch', { uri })
  const stop = await driver.watch('note://1')
  await eventually(
    'an update of what was subscribed to',
    () => updated.length > 0,
    () => touch('note://1'),
  )
  await settle()
  updated.length = 0
  await touch('note://1')
  await touch('note://2')
  await settle()
  assert.deepEqual(updated, ['note://1'], 'what was told of one update of this one, and one of another')
  await stop()
  await settle()
  updated.length = 0
  await touch('note://1')
  await settle()
  assert.deepEqual(updated, [], 'what was told after unsubscribing')
}
