/** The server that the tests of `mcpx dev` save: its tools use everything that passes between a server and its clients. */

import process from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { createServer, defineMethod, type ServerExtension } from '@mcpx/server'
import { z } from 'zod'

const ECHO: ServerExtension = {
  id: 'com.example/echo',
  settings: { loud: true },
  methods: {
    'com.example/echo': defineMethod({ params: z.object({ text: z.string() }) }, ({ text }, ctx) => ({
      text,
      trace: ctx.meta['com.example/trace'],
    })),
  },
}

/** @param version is returned by the tool `version`, so that a test can tell which server has answered */
export function createEchoServer(version: string, { logging = true } = {}) {
  const server = createServer(
    { name: 'echo', version },
    { extensions: [ECHO], instructions: `The instructions of ${version}.`, logging, onError: () => {} },
  )
  return server
    .tool('version', { annotations: { readOnlyHint: true } }, () => version)
    .tool('processes', {}, () => JSON.stringify([process.pid, process.ppid]))
    .tool('slow', { input: z.object({ time: z.number() }) }, async ({ time }) => {
      await pause(time)
      return version
    })
    .tool('slow-read', { annotations: { readOnlyHint: true } }, async () => {
      await pause(60_000)
      return version
    })
    .tool('crash', {}, () => process.exit(7))
    .tool('form', {}, async (_, ctx) => {
      const begun = await ctx.step('begin', () => version)
      const { content } = await ctx.elicit('name', { message: 'Who?', schema: z.object({ name: z.string() }) })
      return `${begun} ${version} ${content?.name}`
    })
    .tool('page', {}, async (_, ctx) => {
      const { action } = await ctx.openUrl('page', { message: 'Pay', url: 'https://pay.example/' })
      return action
    })
    .tool('model', {}, async (_, ctx) => {
      const { content } = await ctx.sample('joke', {
        messages: [{ role: 'user', content: { type: 'text', text: 'A joke' } }],
        maxTokens: 9,
      })
      return JSON.stringify(content)
    })
    .tool('folders', {}, async (_, ctx) => JSON.stringify(await ctx.roots('roots')))
    .tool('steps', {}, async (_, ctx) => {
      await ctx.progress(1, 2, 'half')
      await ctx.log.warning('half done')
      await ctx.progress(2, 2)
      return 'done'
    })
    .tool('wait', {}, async (_, ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      server.resourceUpdated('echo://cancelled')
      return 'never read'
    })
    .tool('touch', {}, () => {
      server.resourceUpdated('echo://state')
      return 'touched'
    })
    .resource('echo://state', { subscribe: true }, () => version)
    .resource('echo://cancelled', { subscribe: true }, () => version)
    .prompt('greet', { args: z.object({ name: z.string() }) }, ({ name }) => `Greet ${name} (${version}).`)
}
