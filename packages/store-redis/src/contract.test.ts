import { afterAll, beforeAll, describe } from 'vitest'
import { describeStore } from './contract.fixture.ts'
import { connectAdmin, connectBy, type RedisServer, servers, startRedis } from './redis.fixture.ts'

for (const { name, program, isInstalled } of servers)
  describe.skipIf(!isInstalled)(name, () => {
    let server: RedisServer
    beforeAll(async () => {
      server = await startRedis(undefined, [], program)
    })
    afterAll(() => server.stop())

    async function killSubscribers(): Promise<void> {
      const admin = await connectAdmin(server.port)
      await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub'])
      admin.destroy()
    }

    describe.each(Object.entries(connectBy))('%s', (library, connect) => {
      describeStore(library, () => connect(server.port), killSubscribers)
    })
  })
