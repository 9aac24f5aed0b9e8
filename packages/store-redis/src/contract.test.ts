import { describeContract, storeContract } from '@mcpx/testing'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type RedisStore, redisStore } from './index.ts'
import { type Connected, connectAdmin, connectBy, type RedisServer, servers, startRedis } from './redis.fixture.ts'

for (const { name, program, isInstalled } of servers)
  describe.skipIf(!isInstalled)(name, () => {
    let server: RedisServer
    beforeAll(async () => {
      server = await startRedis(undefined, [], program)
    })
    afterAll(() => server.stop())

    for (const [library, connect] of Object.entries(connectBy)) {
      describe(library, () => {
        let near: Connected
        let far: Connected
        let count = 0
        const prefixes = new Map<RedisStore, string>()
        beforeAll(async () => {
          near = await connect(server.port)
          far = await connect(server.port)
        })
        afterAll(() => {
          near.close()
          far.close()
        })

        function open(client: Connected, prefix: string): RedisStore {
          const store = redisStore(client.client, { prefix })
          prefixes.set(store, prefix)
          return store
        }

        describeContract(
          `the store over ${library}`,
          storeContract(() => open(near, `${library}:${count++}:`), {
            openSecond: (store) => open(far, prefixes.get(store as RedisStore) ?? ''),
            async interrupt() {
              const admin = await connectAdmin(server.port)
              await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub'])
              admin.destroy()
            },
            waitForDelivery: () => new Promise((resolve) => setTimeout(resolve, 300)),
          }),
          { describe, it },
        )
      })
    }
  })
