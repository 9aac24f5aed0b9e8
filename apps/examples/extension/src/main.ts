/** Serves a custom extension over HTTP, and uses every part of it. `npm start` */
import { strict as assert } from 'node:assert'
import { setTimeout } from 'node:timers/promises'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { credits } from './contract.ts'
import { NO_CREDITS } from './credits.ts'
import { server } from './server.ts'

const { url, close } = await serveHttp(server, { port: 0 })

for (const era of ['modern', 'legacy'] as const) {
  // The client declares the extension. `client.extension(credits)` is typed by its schemas.
  await using client = await connect(http(url), { era, extensions: [credits] })
  const account = client.extension(credits)
  assert.deepEqual(account.settings, { currency: 'stars' })
  const balance = async () => (await account.request('com.example/credits/get')).balance
  assert.equal(await balance(), 5)

  // The option of a tool sets its price. This also holds for tools of a mounted server.
  await client.callTool('ask')
  await client.callTool('maps.route')
  await client.callTool('now')
  assert.equal(await balance(), 0)
  await assert.rejects(client.callTool('ask'), { code: NO_CREDITS, message: 'The call costs 3, you have 0' })

  // `on` receives notifications. In the legacy era, extensions have no subscriptions.
  const changes: number[] = []
  account.on('notifications/com.example/credits/changed', ({ balance }) => void changes.push(balance))
  if (era === 'modern') await account.listen({ credits: true }).ready

  const bought = await account.request('com.example/credits/buy', { amount: 5 })
  assert.equal(bought.balance, 5)
  while (era === 'modern' && changes.length === 0) await setTimeout(5)
  assert.deepEqual(changes, era === 'modern' ? [5] : [])

  // The parameters of a method are checked by its schema, on both sides.
  await assert.rejects(account.request('com.example/credits/buy', { amount: 1_001 }), {
    message: /^com\.example\/credits\/buy: params\.amount: /,
  })
  console.log(`${client.revision}: ${await balance()} credits`)
}

// A client that does not declare the extension can call tools, and methods that do not require the declaration.
await using other = await connect(http(url))
assert.equal((await other.request('com.example/credits/get')).balance, 5)
await assert.rejects(other.request('com.example/credits/buy', { amount: 1 }), { code: -32021 })

// The server checks the parameters as well.
await using careless = await connect(http(url), { capabilities: { extensions: { [credits.id]: {} } } })
await assert.rejects(careless.request('com.example/credits/buy', { amount: 'many' }), {
  code: -32602,
  message: /^params\.amount: /,
})

await close()
console.log('ok')
