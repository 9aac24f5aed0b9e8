/** One process of the shop: `node src/process.ts <redis | sqlite> <path of the socket or file> <ledger> <name>`. Prints its URL. */
import { DatabaseSync } from 'node:sqlite'
import type { Store } from '@mcpx/server'
import { redisStore } from '@mcpx/store-redis'
import { sqliteStore } from '@mcpx/store-sqlite'
import { serveHttp } from '@mcpx/transport-http/node'
import { createClient } from '@redis/client'
import { createShop } from './shop.ts'

const [kind, path = '', ledger = '', name = ''] = process.argv.slice(2)

async function openStore(): Promise<Store> {
  if (kind === 'sqlite') return sqliteStore(new DatabaseSync(path))
  const redis = createClient({ socket: { path, tls: false } })
  redis.on('error', (error) => console.error(error))
  await redis.connect()
  return redisStore(redis)
}

const { url } = await serveHttp(createShop(await openStore(), name, ledger), { port: 0 })
console.log(url)
