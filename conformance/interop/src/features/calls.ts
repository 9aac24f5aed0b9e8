/** Running calls: progress, log messages, input requests, cancellation. */

import assert from 'node:assert/strict'
import { answers } from '../driver.ts'
import { eventually, type Features, type Rig, settle, textOf } from '../feature.ts'
import { stepsOf } from '../progress-call.ts'

let tags = 0

export const calls: Features = {
  'progress arrives before the result': {
    async run({ driver }) {
      const { steps, answer } = await stepsOf(driver)
      const pattern = steps.map(({ progress, total }) => `${progress}/${total}`)
      assert.deepEqual([...pattern, answer], ['1/3', '2/3', '3/3', 'done'])
    },
  },
  'progress has messages': {
    since: '2025-03-26',
    async run({ driver }) {
      const { steps } = await stepsOf(driver)
      assert.deepEqual(
        steps.map(({ message }) => message),
        ['step 1', 'step 2', 'step 3'],
      )
    },
  },
  'log messages of the requested level arrive': {
    async run({ driver }) {
      const { logs } = driver.received
      const talk = async (level: 'warning' | 'notice') => {
        logs.length = 0
        await driver.setLogLevel(level)
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
  'the user accepts a form': {
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
  'a call sends two input requests one after the other': {
    since: '2025-06-18',
    async run({ driver }) {
      assert.equal(textOf(await driver.callTool('ask-twice')), 'accept decline')
    },
  },
  'a call sends two input requests at once': {
    since: '2025-06-18',
    async run({ driver }) {
      assert.equal(textOf(await driver.callTool('ask-both')), 'accept decline')
    },
  },
  'a form has fields of every type': {
    since: '2025-06-18',
    async run({ driver }) {
      assert.deepEqual(JSON.parse(textOf(await driver.callTool('ask-fields'))), answers['Fields?'])
    },
  },
  'a form has titled and multiple-choice enums': {
    since: '2025-11-25',
    async run({ driver }) {
      assert.deepEqual(JSON.parse(textOf(await driver.callTool('ask-choices'))), answers['Choices?'])
    },
  },
  'a prompt sends an input request': {
    since: '2025-06-18',
    async run({ driver }) {
      const { messages } = await driver.getPrompt('interview')
      assert.deepEqual(messages[0]?.content, { type: 'text', text: 'Interview Ada' })
    },
  },
  'the server sends the user to a URL': {
    since: '2025-11-25',
    async run({ driver }) {
      assert.equal(textOf(await driver.callTool('visit')), 'accept')
      const elicitation = driver.received.elicitations.find(({ mode }) => mode === 'url')
      assert.deepEqual(elicitation, { mode: 'url', message: 'Pay here', url: 'https://pay.example/1' })
    },
  },
  'the server requests a completion of the client’s model': {
    async run({ driver }) {
      assert.equal(textOf(await driver.callTool('write')), 'You said: Hello')
    },
  },
  'a sampling request offers tools': {
    since: '2025-11-25',
    async run({ driver }) {
      const content = JSON.parse(textOf(await driver.callTool('write-with-tools')))
      assert.deepEqual(content, { type: 'tool_use', id: 'use-1', name: 'clock', input: {} })
    },
  },
  'the server requests the roots of the client': {
    async run({ driver }) {
      assert.deepEqual(JSON.parse(textOf(await driver.callTool('folders'))), [{ uri: 'file:///work', name: 'work' }])
    },
  },
  'an aborted call is cancelled on the server': { run: cancel },
  'the server answers pings': {
    until: '2025-11-25',
    async run({ driver }) {
      await driver.ping()
    },
  },
  'the client detects the revision of the server': {
    since: '2025-11-25',
    transports: ['stdio', 'http'],
    async run({ connect, pairing }) {
      const driver = await connect({ detectRevision: true })
      assert.equal(driver.revision, pairing.peer === 'sdk-1' ? '2025-11-25' : '2026-07-28')
      assert.equal(textOf(await driver.callTool('add', { a: 2, b: 3 })), '{"sum":5}')
    },
  },
  'the client detects the newest revision that the HTTP+SSE transport has': {
    transports: ['sse'],
    async run({ connect, pairing }) {
      const driver = await connect({ detectRevision: true })
      if (pairing.ours === 'server') assert.equal(driver.revision, '2025-11-25')
      assert.equal(textOf(await driver.callTool('add', { a: 2, b: 3 })), '{"sum":5}')
    },
  },
}

async function cancel({ driver }: Rig): Promise<void> {
  const tag = `call ${++tags}`
  const readState = async () => JSON.parse(textOf(await driver.callTool('waits', { tag })))
  let last = await readState()
  const controller = new AbortController()
  const call = driver.callTool('wait', { tag }, { signal: controller.signal }).then(
    () => 'answered',
    () => 'rejected',
  )
  const refresh = async () => {
    last = await readState()
  }
  await eventually('the start of the call', () => last.started, refresh)
  controller.abort()
  assert.equal(await call, 'rejected')
  await eventually('the cancellation of the handler', () => last.stopped, refresh)
}
