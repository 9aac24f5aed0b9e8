/** Tools: definitions, results and errors. */

import assert from 'node:assert/strict'
import { expectError, type Features, textOf } from '../feature.ts'
import { PIXEL, SOUND, tools as shopTools } from '../servers/shop-data.ts'

export const tools: Features = {
  'the server sends its info and instructions': {
    async run({ driver }) {
      assert.equal(driver.server.name, 'shop')
      assert.equal(driver.instructions, 'Ask for what you want.')
    },
  },
  'the server sends its title and icon': {
    since: '2025-11-25',
    async run({ driver }) {
      assert.equal(driver.server.title, 'The shop')
      assert.equal(driver.server.icons?.[0]?.src, 'https://shop.example/icon.png')
    },
  },
  'the server receives the client’s info': {
    async run({ driver }) {
      assert.equal(textOf(await driver.callTool('who')), 'visitor')
    },
  },
  'tools are listed with their schemas': {
    async run({ driver }) {
      const all = await driver.listTools()
      const add = all.find(({ name }) => name === 'add')
      const names = all.map(({ name }) => name).filter((name) => !name.startsWith('grown-'))
      assert.deepEqual(names.toSorted(), shopTools, 'the tools of all pages')
      assert.equal(add?.description, 'Adds two numbers')
      assert.deepEqual(add?.inputSchema.required, ['a', 'b'])
    },
  },
  'tools are listed with annotations': {
    since: '2025-03-26',
    async run({ driver }) {
      const add = (await driver.listTools()).find(({ name }) => name === 'add')
      assert.equal(add?.annotations?.readOnlyHint, true)
    },
  },
  'tools have titles': {
    since: '2025-06-18',
    async run({ driver }) {
      const add = (await driver.listTools()).find(({ name }) => name === 'add')
      assert.equal(add?.title, 'Addition')
    },
  },
  'a tool returns a result': {
    async run({ driver }) {
      assert.deepEqual((await driver.callTool('add', { a: 2, b: 3 })).content, [{ type: 'text', text: '{"sum":5}' }])
    },
  },
  'a tool returns structured content': {
    since: '2025-06-18',
    async run({ driver }) {
      const add = (await driver.listTools()).find(({ name }) => name === 'add')
      assert.deepEqual(add?.outputSchema?.required, ['sum'])
      assert.deepEqual((await driver.callTool('add', { a: 2, b: 3 })).structuredContent, { sum: 5 })
    },
  },
  'a tool returns text, an image and a resource': {
    async run({ driver }) {
      const { content } = await driver.callTool('contents')
      const image = content.find(({ type }) => type === 'image')
      const resource = content.find(({ type }) => type === 'resource')
      assert.deepEqual(content[0], { type: 'text', text: 'words' })
      assert.deepEqual(image, { type: 'image', data: PIXEL, mimeType: 'image/png' })
      assert.deepEqual(resource, {
        type: 'resource',
        resource: { uri: 'note://1', mimeType: 'text/plain', text: 'Note 1' },
      })
    },
  },
  'a tool returns audio': {
    since: '2025-03-26',
    async run({ driver }) {
      const { content } = await driver.callTool('contents')
      const audio = content.find(({ type }) => type === 'audio')
      assert.deepEqual(audio, { type: 'audio', data: SOUND, mimeType: 'audio/wav' })
    },
  },
  'a tool returns a resource link': {
    since: '2025-06-18',
    async run({ driver }) {
      const { content } = await driver.callTool('contents')
      const link = content.find(({ type }) => type === 'resource_link')
      assert.deepEqual(link, { type: 'resource_link', uri: 'note://2', name: 'Second note' })
    },
  },
  'a large text of any script arrives unchanged': {
    async run({ driver }) {
      const text = `äöü \u2028 \u{1f600} "quoted" \\ ${'0123456789'.repeat(50_000)}`
      assert.equal(textOf(await driver.callTool('echo', { text })), text)
    },
  },
  'concurrent calls receive their own results': {
    async run({ driver }) {
      const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`)
      const answers = await Promise.all(texts.map((text) => driver.callTool('echo', { text })))
      assert.deepEqual(answers.map(textOf), texts)
    },
  },
  'arguments are mirrored as headers': {
    since: '2026-07-28',
    transports: ['http'],
    async run({ driver }) {
      await driver.listTools()
      assert.equal(textOf(await driver.callTool('region', { region: 'north' })), 'north, north')
    },
  },
  'a failed tool returns an error result': {
    async run({ driver }) {
      const result = await driver.callTool('fail')
      assert.equal(result.isError, true)
      assert.equal(textOf(result), 'It failed.')
    },
  },
  'invalid arguments return an error result': {
    async run({ driver }) {
      const result = await driver.callTool('add', { a: 'two', b: 3 })
      assert.equal(result.isError, true)
      assert.match(textOf(result), /(?:["'\s.]|^)a(?:["':]|$)/m)
      assert.match(textOf(result), /\bnumber\b/)
    },
  },
  'an unknown tool is rejected': {
    async run({ driver }) {
      await expectError(driver.callTool('nothing'), -32602)
    },
  },
  'an unknown method is rejected': {
    async run({ driver }) {
      await expectError(driver.requestUnknownMethod(), -32601)
    },
  },
}
