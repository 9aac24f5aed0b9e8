/** Servers that are written by hand: a handler object, and questions that are results. */

import type { ElicitAsk } from '@mcpx/client'
import { createServer, inputRequired } from '@mcpx/server'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { complaintOf, textOf } from '../results.ts'

const info = { name: 'by-hand', version: '1' }
const words = (text: string) => ({ content: [{ type: 'text' as const, text }] })

function counting() {
  return createServer(info, {
    listTools: () => ({ tools: [{ name: 't', inputSchema: { type: 'object' } }] }),
    callTool(_params, { requestState, inputResponses }) {
      const state = JSON.parse(requestState ?? '{"round":0,"folders":[]}')
      const { roots } = (inputResponses?.folders ?? {}) as { roots?: { name?: string }[] }
      const folders = [...state.folders, ...(roots ?? []).map(({ name }) => name)]
      if (state.round === 3) return words(JSON.stringify(folders))
      return inputRequired(
        { folders: { method: 'roots/list' } },
        JSON.stringify({ round: state.round + 1, folders, secret: 'hush' }),
      )
    },
  })
}

export const byHand: Behaviours = {
  async 'a handler written by hand asks by its result, and gets its own state back'({ connect }) {
    let asked = 0
    const roots = () => {
      asked += 1
      return [{ uri: 'file:///a', name: `n${asked}` }]
    }
    const client = await connect(counting(), { roots })
    expect(textOf(await client.callTool('t'))).toBe('["n1","n2","n3"]')
  },

  async 'state that nobody sealed, and answers that nobody asked for, do not reach a handler'({ connect, era }) {
    const server = createServer(info, {
      listTools: () => ({ tools: [] }),
      callTool: (_params, { requestState, inputResponses }) => words(JSON.stringify([requestState, inputResponses])),
    })
    const client = await connect(server)
    const forged = { requestState: '{"isAdmin":true}', inputResponses: { sure: { action: 'accept' } } }
    const call = client.request('tools/call', { name: 't', ...forged })
    if (era === 'legacy') expect(await call).toMatchObject(words('[null,null]'))
    else {
      const message = expect.stringContaining('requestState')
      await expect(call).rejects.toMatchObject({ code: -32602, message })
    }
  },

  async 'a call that never stops asking is stopped'({ connect, era }) {
    let calls = 0
    const server = createServer(info, {
      listTools: () => ({ tools: [] }),
      callTool() {
        calls += 1
        return inputRequired({ folders: { method: 'roots/list' } })
      },
    })
    const client = await connect(server, { roots: [], maxRounds: 5 })
    const error = await client.callTool('t').then(textOf, (error: unknown) => error)
    // The one who carries on calls counts: the client in the modern era, the server in the older one.
    if (era === 'modern') {
      expect(error).toMatchObject({
        name: 'ConnectionError',
        reason: 'limit',
        message: expect.stringContaining('5 rounds'),
      })
      expect(calls).toBe(6)
    } else expect(error).toMatchObject({ code: -32603, message: 'The call asked for input 16 times and did not end' })
  },

  async 'a callback of the client that fails ends the call, and its words stay here'({
    connect,
    era,
    reports,
    forgive,
  }) {
    const server = createServer(info).tool('t', {}, async (_args, ctx) => {
      return JSON.stringify(await ctx.roots())
    })
    const client = await connect(server, {
      roots() {
        throw new Error('the password is 1234')
      },
    })
    const failed = await client.callTool('t').then(textOf, (error: unknown) => error)
    if (era === 'legacy') {
      expect(failed).toMatchObject({ code: -32603, message: 'Internal error' })
      expect(reports).toMatchObject([{ message: 'the password is 1234' }])
      forgive(/^the password is 1234$/)
    } else {
      const message = 'tools/call was given up: roots/list was not answered'
      expect(failed).toMatchObject({ name: 'ConnectionError', reason: 'cancelled', message })
    }
  },

  async 'a URL that the client does not take is not asked for'({ connect, era }) {
    const server = createServer(info).tool('t', {}, async (_args, ctx) => {
      return JSON.stringify(await ctx.openUrl('pay', { message: 'Pay', url: 'https://example.com' }))
    })
    const asks: ElicitAsk[] = []
    const onElicit = (ask: ElicitAsk) => {
      asks.push(ask)
      return { action: 'accept' } as const
    }
    const call = (await connect(server, { onElicit, elicitationModes: ['form'] })).callTool('t')
    if (era === 'legacy')
      expect(complaintOf(await call)).toMatch(
        /^The client cannot be asked\. The client must declare: elicitation\.(?:url|form)$/,
      )
    else
      await expect(call).rejects.toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { elicitation: { url: {} } } },
      })
    expect(asks).toEqual([])
  },
}
