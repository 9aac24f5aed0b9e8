/** Serves an extension by its own author over HTTP, and uses every part of it. `npm start` */
import { strict as assert } from 'node:assert'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { CREDITS, NO_CREDITS } from './credits.ts'
import { server } from './server.ts'

const { url, close } = await serveHttp(server, { port: 0 })

for (const era of ['modern', 'legacy'] as const) {
  await using client = await connect(http(url), {
    era,
    capabilities: { extensions: { [CREDITS]: {} } },
  })
  assert.deepEqual(client.server.capabilities.extensions, { [CREDITS]: { currency: 'stars' } })
  const balance = async () => (await client.request('com.example/credits/get')).balance
  assert.equal(await balance(), 5)

  // Tools cost what their option says, also those of a mounted server.
  await client.callTool('ask')
  await client.callTool('maps.route')
  await client.callTool('now')
  assert.equal(await balance(), 0)
  await assert.rejects(client.callTool('ask'), { code: NO_CREDITS, message: 'The call costs 3, you have 0' })

  // The parameters of a method are checked by its schema.
  const bought = await client.request('com.example/credits/buy', { amount: 5 })
  assert.equal(bought.balance, 5)
  await assert.rejects(client.request('com.example/credits/buy', { amount: 'many' }), {
    code: -32602,
    message: /^params\.amount: /,
  })
  console.log(`${client.revision}: ${await balance()} credits`)
}

// A client that does not declare the extension may call tools, and methods that do not need the declaration.
await using other = await connect(http(url))
assert.equal((await other.request('com.example/credits/get')).balance, 5)
await assert.rejects(other.request('com.example/credits/buy', { amount: 1 }), { code: -32021 })

await close()
console.log('ok')
