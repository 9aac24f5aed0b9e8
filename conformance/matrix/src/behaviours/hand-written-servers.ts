/** Servers made of a handler object, which return input requests as results. */

import type { Elicitation } from '@mcpx/client'
import { createServer, inputRequired } from '@mcpx/server'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { errorTextOf, textOf } from '../results.ts'

const info = { name: 'by-hand', version: '1' }
const textResult = (text: string) => ({ content: [{ type: 'text' as const, text }] })

function createRoundServer() {
  return createServer(info, {
    listTools: () => ({ tools: [{ name: 't', inputSchema: { type: 'object' } }] }),
    callTool(_params, { requestState, inputResponses }) {
      const state = JSON.parse(requestState ?? '{"round":0,"folders":[]}')
      const { roots } = (inputResponses?.folders ?? {}) as { roots?: { name?: string }[] }
      const folders = [...state.folders, ...(roots ?? []).map(({ name }) => name)]
      if (state.round === 3) return textResult(JSON.stringify(folders))
      return inputRequired(
        { folders: { method: 'roots/list' } },
        JSON.stringify({ round: state.round + 1, folders, secret: 'hush' }),
      )
    },
  })
}

export const handWrittenServers: Behaviours = {
  async 'a hand-written handler returns input requests and receives its own state'({ connect }) {
    let asked = 0
    const roots = () => {
      asked += 1
      return [{ uri: 'file:///a', name: `n${asked}` }]
    }
    const client = await connect(createRoundServer(), { roots })
    expect(textOf(await client.callTool('t'))).toBe('["n1","n2","n3"]')
  },

  async 'unsealed state and unrequested answers do not reach a handler'({ connect, era }) {
    const server = createServer(info, {
      listTools: () => ({ tools: [] }),
      callTool: (_params, { requestState, inputResponses }) =>
        textResult(JSON.stringify([requestState, inputResponses])),
    })
    const client = await connect(server)
    const forged = { requestState: '{"isAdmin":true}', inputResponses: { sure: { action: 'accept' } } }
    const call = client.request('tools/call', { name: 't', ...forged })
    if (era === 'legacy') expect(await call).toMatchObject(textResult('[null,null]'))
    else {
      const message = expect.stringContaining('requestState')
      await expect(call).rejects.toMatchObject({ code: -32602, message })
    }
  },

  async 'a call that returns input requests without end fails'({ connect, era }) {
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
    // The side that repeats calls has the limit: the client in the modern era, the server in the legacy era.
    if (era === 'modern') {
      expect(error).toMatchObject({
        name: 'ConnectionError',
        reason: 'limit',
        message: expect.stringContaining('5 rounds'),
      })
      expect(calls).toBe(6)
    } else expect(error).toMatchObject({ code: -32603, message: 'The call asked for input 16 times and did not end' })
  },

  async 'a failing callback of the client fails the call without sending its message'({
    connect,
    era,
    warnings,
    removeWarnings,
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
      expect(warnings).toMatchObject([{ message: 'the password is 1234' }])
      removeWarnings(/^the password is 1234$/)
    } else {
      const message = 'tools/call "t" cannot continue: roots/list failed'
      expect(failed).toMatchObject({ name: 'ConnectionError', reason: 'cancelled', message })
    }
  },

  async 'a URL elicitation is not sent to a client that supports forms only'({ connect, era }) {
    const server = createServer(info).tool('t', {}, async (_args, ctx) => {
      return JSON.stringify(await ctx.openUrl('pay', { message: 'Pay', url: 'https://example.com' }))
    })
    const elicitations: Elicitation[] = []
    const onElicit = (elicitation: Elicitation) => {
      elicitations.push(elicitation)
      return { action: 'accept' } as const
    }
    const call = (await connect(server, { onElicit, elicitationModes: ['form'] })).callTool('t')
    if (era === 'legacy')
      expect(errorTextOf(await call)).toMatch(
        /^The client cannot be asked\. The client must declare: elicitation\.(?:url|form)$/,
      )
    else
      await expect(call).rejects.toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { elicitation: { url: {} } } },
      })
    expect(elicitations).toEqual([])
  },
}
