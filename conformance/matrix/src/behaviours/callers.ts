/** Several callers of one server: visibility, scopes and isolation. */

import type { AuthInfo } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { catchError } from '@mcpx/testing'
import { expect } from 'vitest'
import * as z from 'zod'
import type { Behaviours } from '../behaviour.ts'
import { jsonOf, textOf } from '../results.ts'

const info = { name: 'callers', version: '1' }
const caller = (subject: string, ...scopes: string[]): AuthInfo => ({ subject, scopes })
const who = z.object({ who: z.string() })

function guarded() {
  const isAda = (auth: AuthInfo | undefined) => auth?.subject === 'ada'
  return createServer(info)
    .tool('open', {}, () => 'open')
    .tool('adas', { visible: isAda }, () => 'for ada')
    .tool('admin', { scopes: ['read', 'admin'] }, (_args, ctx) => `hello ${ctx.auth?.subject}`)
    .resource('note://adas', { visible: isAda }, 'for ada')
    .resource('adas://{id}', { visible: isAda, complete: { id: ['1'] } }, () => 'for ada')
    .prompt('adas', { visible: isAda }, () => 'for ada')
}

export const callers: Behaviours = {
  async 'a caller sees the items that are visible to it'({ connect }) {
    const server = guarded()
    const ada = await connect(server, { auth: caller('ada') })
    const admin = await connect(server, { auth: caller('bob', 'admin', 'read') })
    const anonymous = await connect(server)
    const tools = async (client: typeof ada) => (await client.listTools().all()).map(({ name }) => name)
    expect(await tools(ada)).toEqual(['open', 'adas'])
    expect(await tools(admin)).toEqual(['open', 'admin'])
    expect(await tools(anonymous)).toEqual(['open'])
    expect(textOf(await ada.callTool('adas'))).toBe('for ada')
    expect(textOf(await admin.callTool('admin'))).toBe('hello bob')
    expect((await ada.listPrompts().all()).map(({ name }) => name)).toEqual(['adas'])
    expect(await ada.readResource('adas://1')).toMatchObject({ contents: [{ text: 'for ada' }] })
  },

  async 'invisible items do not exist for other callers'({ connect, era }) {
    const bob = await connect(guarded(), { auth: caller('bob', 'admin') })
    const notFound = era === 'legacy' ? -32002 : -32602
    for (const tool of ['adas', 'nope']) {
      await expect(bob.callTool(tool)).rejects.toMatchObject({ code: -32602, message: `Unknown tool: "${tool}"` })
    }
    await expect(bob.getPrompt('adas')).rejects.toMatchObject({ code: -32602, message: 'Unknown prompt: "adas"' })
    for (const uri of ['note://adas', 'adas://1']) {
      await expect(bob.readResource(uri)).rejects.toMatchObject({ code: notFound, data: { uri } })
    }
    const ref = { type: 'ref/resource', uri: 'adas://{id}' } as const
    await expect(bob.complete({ ref, argument: { name: 'id', value: '' } })).rejects.toMatchObject({
      code: -32602,
      message: 'Unknown resource template: "adas://{id}"',
    })
    expect(await bob.listPrompts().all()).toEqual([])
    expect(await bob.listResources().all()).toEqual([])
    expect(await bob.listResourceTemplates().all()).toEqual([])
  },

  async 'a caller without the required scopes gets an error that names them'({ connect }) {
    const server = guarded()
    const error = { code: 403, data: { requiredScopes: ['read', 'admin'] } }
    const bob = await connect(server, { auth: caller('bob', 'admin') })
    expect(await catchError(() => bob.callTool('admin')), 'the error').toMatchObject(error)
    const anonymous = await connect(server)
    expect(await catchError(() => anonymous.callTool('admin')), 'the error').toMatchObject(error)
  },

  async 'a hundred concurrent callers receive only their own messages'({ connect, era }) {
    // In the modern era the handler runs again with the answer, and sends its messages again.
    const rounds = era === 'modern' ? 2 : 1
    const server = createServer(info).tool('who', { input: who }, async ({ who }, ctx) => {
      await ctx.progress(Number(who.slice('caller '.length)), 100)
      await ctx.log.error({ who })
      const roots = await ctx.roots()
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
      const step = await ctx.step('step', () => `${who} stepped`)
      return JSON.stringify([who, ctx.auth?.subject, ctx.client.info?.name, roots[0]?.name, step])
    })
    const calls = Array.from({ length: 100 }, async (_, n) => {
      const name = `caller ${n}`
      const received: unknown[] = []
      const client = await connect(server, {
        auth: caller(name),
        clientInfo: { name, version: '1' },
        roots: [{ uri: 'file:///a', name }],
        onLog: ({ data }) => void received.push((data as { who: string }).who),
      })
      const result = await client.callTool(
        'who',
        { who: name },
        { onProgress: ({ progress }) => void received.push(progress) },
      )
      expect(jsonOf(result)).toEqual([name, name, name, name, `${name} stepped`])
      expect(received).toEqual(Array.from({ length: rounds }, () => [n, name]).flat())
    })
    await Promise.all(calls)
  },

  async 'a hundred concurrent calls of one caller receive their own results'({ connect }) {
    const server = createServer(info).tool('who', { input: who }, async ({ who }, ctx) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
      await ctx.progress(Number(who))
      return who
    })
    const client = await connect(server)
    const calls = Array.from({ length: 100 }, async (_, n) => {
      const seen: number[] = []
      const result = await client.callTool(
        'who',
        { who: `${n}` },
        { onProgress: ({ progress }) => void seen.push(progress) },
      )
      return [textOf(result), ...seen]
    })
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 100 }, (_, n) => [`${n}`, n]))
  },
}
