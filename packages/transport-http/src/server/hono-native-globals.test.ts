import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { call, readTold, serve, talking } from './hono-streams.fixture.ts'

it("an app streams on Hono's server for Node without replaced globals", async () => {
  const port = await serve(mcp(talking(20, 1_000).server), false)
  expect(Object.getPrototypeOf(new Response(''))).toBe(Response.prototype)
  const response = await call(port)
  const { progress, result } = readTold(await response.text())
  expect([progress.length, result]).toEqual([20, { told: 20 }])
})

it('an app accepts a body that a middleware has read with the context', async () => {
  const app = new Hono().use(async ({ req }, next) => {
    await req.json()
    await next()
  })
  const port = await serve(app.route('/mcp', mcp(talking(0, 0).server)), false)
  expect(await (await call(port)).json()).toMatchObject({ result: { told: 0 } })
})
