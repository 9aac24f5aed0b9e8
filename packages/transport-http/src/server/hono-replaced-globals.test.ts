import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { serve, talking } from './hono-streams.fixture.ts'
import { HandWritten, MODERN, modern } from './server.fixture.ts'

/** As others make them, whatever the global class is. */
const { Request: WebRequest, Response: WebResponse } = globalThis

const headers = { 'content-type': 'application/json', 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' }

const ask = () =>
  new WebRequest('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(modern('tools/list')) })

it("responses have separate headers with the Response class of Hono's server for Node", async () => {
  await serve(mcp(talking(1, 1).server))
  expect(Response).not.toBe(WebResponse)
  const tools = mcp(new HandWritten({ 'tools/list': () => ({ tools: [] }) }))
  const marking = new Hono()
    .use(async (context, next) => {
      await next()
      context.res.headers.append('set-cookie', context.req.header('x-user') ?? '')
    })
    .mount('/mcp', tools.fetch)
  for (const user of ['alice', 'bob']) {
    const request = ask()
    request.headers.set('x-user', user)
    const response = await marking.fetch(request)
    expect(response.headers.getSetCookie()).toEqual([user])
    expect(await response.json()).toMatchObject({ result: { tools: [] } })
  }
  expect((await tools.fetch(ask())).headers.getSetCookie()).toEqual([])
})
