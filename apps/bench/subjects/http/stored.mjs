// Our server with the kinds of calls that use a store. Without the port of Redis in REDIS, the store is in memory.
import { createServer } from '@mcpx/server'
import { redisStore } from '@mcpx/store-redis'
import { serveHttp } from '@mcpx/transport-http/node'
import { createClient } from '@redis/client'
import { host, port, ready } from '../parts/listening.mjs'

async function openStore() {
  if (process.env.REDIS === undefined) return undefined
  const redis = createClient({ url: `redis://127.0.0.1:${process.env.REDIS}` })
  redis.on('error', (error) => console.error(error.message))
  await redis.connect()
  return redisStore(redis)
}

const server = createServer(
  { name: 'bench', version: '1.0.0' },
  { store: await openStore(), secrets: ['x'.repeat(32)] },
)
  .tool('plain', {}, () => 'done')
  .tool('progress', {}, async (_args, ctx) => {
    for (let n = 1; n <= 5; n++) await ctx.progress(n, 5)
    return 'done'
  })
  .tool('ask', {}, async (_args, ctx) => {
    const schema = { type: 'object', properties: { name: { type: 'string' } } }
    return (await ctx.elicit('name', { message: 'Who?', schema })).action
  })

await serveHttp(server, { host, port })
ready()
