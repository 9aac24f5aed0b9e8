/** What happens while a call runs: progress, log messages, questions, cancellation, a lost stream. */

import assert from 'node:assert/strict'
import { answers } from '../driver.ts'
import { eventually, type Features, type Rig, settle, textOf } from '../feature.ts'
import { stepsOf } from '../steps.ts'

let tags = 0

export const calls: Features = {
  'progress arrives before the answer': {
    async run({ driver }) {
      const { steps, answer } = await stepsOf(driver)
      const seen = steps.map(({ progress, total }) => `${progress}/${total}`)
      assert.deepEqual([...seen, answer], ['1/3', '2/3', '3/3', 'done'])
    },
  },
  'progress comes with words': {
    since: '2025-03-26',
    async run({ driver }) {
      const { steps } = await stepsOf(driver)
      assert.deepEqual(
        steps.map(({ message }) => message),
        ['step 1', 'step 2', 'step 3'],
      )
    },
  },
  'log messages of the wanted level arrive': {
    async run({ driver }) {
      const { logs } = driver.heard
      const talk = async (wanted: 'warning' | 'notice') => {
        logs.length = 0
        await driver.setLogLevel(wanted)
        await driver.callTool('talk')
        await eventually('a log message', () => logs.length > 0)
        await settle()
        return [...logs]
      }
      const notice = { level: 'notice', data: 'a word', logger: 'shop' }
      const warning = { level: 'warning', data: { careful: true }, logger: 'shop' }
      assert.deepEqual(await talk('warning'), [warning])
      assert.deepEqual(await talk('notice'), [notice, warning])
    },
  },
  'the user fills in a form': {
    since: '2025-06-18',
    async run({ driver }) {
      const answer = JSON.parse(textOf(await driver.callTool('ask', { message: 'Who are you?' })))
      assert.deepEqual(answer, { action: 'accept', content: { name: 'Ada', age: 36 } })
    },
  },
  'the user declines a form': {
    since: '2025-06-18',
    async run({ driver }) {
      assert.deepEqual(JSON.parse(textOf(await driver.callTool('ask', { message: 'Decline this' }))), {
        action: 'decline',
      })
    },
  },
  'one call asks twice': {
    since: '2025-06-18',
    async run({ driver }) {
      assert.equal(textOf(await driver.callTool('ask-twice')), 'accept decline')
    },
  },
  'one call asks two things at once': {
    since: '2025-06-18',
    async run({ driver }) {
      assert.equal(textOf(await driver.callTool('ask-both')), 'accept decline')
    },
  },
  'a form has fields of every kind': {
    since: '2025-06-18',
    async run({ driver }) {
      assert.deepEqual(JSON.parse(textOf(await driver.callTool('ask-fields'))), answers['Fields?'])
    },
  },
  'a form has choices with titles, and of several values': {
    since: '2025-11-25',
    async run({ driver }) {
      assert.deepEqual(JSON.parse(textOf(await driver.callTool('ask-choices'))), answers['Choices?'])
    },
  },
  'a prompt asks the user': {
    since: '2025-06-18',
    async run({ driver }) {
      const { messages } = await driver.getPrompt('interview')
      assert.deepEqual(messages[0]?.content, { type: 'text', text: 'Interview Ada' })
    },
  },
  'the user is sent to a URL': {
    since: '2025-11-25',
    async run({ driver }) {
      assert.equal(textOf(await driver.callTool('visit')), 'accept')
      const asked = driver.heard.asked.find(({ mode }) => mode === 'url')
      assert.deepEqual(asked, { mode: 'url', message: 'Pay here', url: 'https://pay.example/1' })
    },
  },
  'the model of the client writes': {
    async run({ driver }) {
      assert.equal(textOf(await driver.callTool('write')), 'You said: Hello')
    },
  },
  'the model of the client is given tools': {
    since: '2025-11-25',
    async run({ driver }) {
      const content = JSON.parse(textOf(await driver.callTool('write-with-tools')))
      assert.deepEqual(content, { type: 'tool_use', id: 'use-1', name: 'clock', input: {} })
    },
  },
  'the server sees the roots of the client': {
    async run({ driver }) {
      assert.deepEqual(JSON.parse(textOf(await driver.callTool('folders'))), [{ uri: 'file:///work', name: 'work' }])
    },
  },
  'a call that is not wanted any more is cancelled': { run: cancel },
  'the server is pinged': {
    until: '2025-11-25',
    async run({ driver }) {
      await driver.ping()
    },
  },
  'the client finds out what the server speaks': {
    since: '2025-11-25',
    carriers: ['stdio', 'http'],
    async run({ connect, way }) {
      const driver = await connect({ findOut: true })
      assert.equal(driver.revision, way.peer === 'sdk-1' ? '2025-11-25' : '2026-07-28')
      assert.equal(textOf(await driver.callTool('add', { a: 2, b: 3 })), '{"sum":5}')
    },
  },
}

async function cancel({ driver }: Rig): Promise<void> {
  const tag = `call ${++tags}`
  const waits = async () => JSON.parse(textOf(await driver.callTool('waits', { tag })))
  let last = await waits()
  const controller = new AbortController()
  const call = driver.callTool('wait', { tag }, { signal: controller.signal }).then(
    () => 'answered',
    () => 'rejected',
  )
  const look = async () => {
    last = await waits()
  }
  await eventually('the call began', () => last.started, look)
  controller.abort()
  assert.equal(await call, 'rejected')
  await eventually('the handler was told', () => last.stopped, look)
}
