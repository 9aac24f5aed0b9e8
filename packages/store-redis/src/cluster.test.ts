/** The store in a cluster of three Redis servers. */

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeStore } from './contract.fixture.ts'
import { redisStore } from './index.ts'
import { connectAdmin, connectClusterBy, type RedisCluster, servers, startCluster } from './redis.fixture.ts'

for (const { name, program, isInstalled } of servers)
  describe.skipIf(!isInstalled)(`a cluster of ${name}`, () => {
    let cluster: RedisCluster
    beforeAll(async () => {
      cluster = await startCluster(program)
    })
    afterAll(() => cluster?.stop())

    /** Closes the connections for subscriptions, which lead to any of the servers. */
    async function killSubscribers(): Promise<void> {
      const admins = await Promise.all(cluster.ports.map(connectAdmin))
      await Promise.all(admins.map((admin) => admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub'])))
      for (const admin of admins) admin.destroy()
    }

    describe.each(Object.entries(connectClusterBy))('%s', (library, connect) => {
      const open = describeStore(library, () => connect(cluster.ports), killSubscribers)

      it('distributes sessions, streams and tasks over all servers', async () => {
        const store = open(`${library}:spread:`)
        for (let n = 0; n < 30; n++) {
          await store.sessions.create(`${n}`, {}, 60_000)
          await store.events.append(`${n}`, 'x')
          await store.tasks.create(`${n}`, 'x', 60_000, { owner: 'one', duration: 60_000 })
        }
        for (const port of cluster.ports) {
          const admin = await connectAdmin(port)
          expect((await admin.keys(`${library}:spread:[se]*`)).length).toBeGreaterThan(5)
          expect((await admin.keys(`${library}:spread:tasks:*:task:*`)).length).toBeGreaterThan(2)
          admin.destroy()
        }
      })

      it('reports a gap after the connection for subscriptions was lost, and none before', async () => {
        const store = open(`${library}:gap:`)
        const received: string[] = []
        const receive = (message: string) => void received.push(message)
        await store.bus.subscribe('t', receive, () => receive('gap'))
        await store.bus.subscribe('u', receive)
        await store.bus.publish('t', 'x')
        await expect.poll(() => received).toEqual(['x'])
        await killSubscribers()
        await expect.poll(() => received, { timeout: 5_000 }).toEqual(['x', 'gap'])
        await store.bus.publish('t', 'y')
        await expect.poll(() => received).toEqual(['x', 'gap', 'y'])
        await store.close()
      })

      it('rejects by name while a server is down, and works when it is back', { timeout: 30_000 }, async () => {
        // Other tests share the connections.
        const own = await connect(cluster.ports)
        onTestFinished(() => own.close())
        const store = redisStore(own.client, { prefix: `${library}:down:`, timeout: 500 })
        let gaps = 0
        const received: string[] = []
        await store.bus.subscribe(
          't',
          (message) => received.push(message),
          () => {
            gaps += 1
          },
        )
        const createAll = async (kind: string) => {
          const creating = Array.from({ length: 30 }, (_, n) => store.sessions.create(`${kind}${n}`, {}, 60_000))
          return (await Promise.allSettled(creating)).flatMap((each) => ('reason' in each ? [each.reason] : []))
        }
        const isDelivered = async () => {
          try {
            await store.bus.publish('t', 'x')
          } catch {
            // The server is not ready yet.
          }
          return received.length > 0
        }
        for (let index = 0; index < cluster.ports.length; index++) {
          const restart = await cluster.kill(index)
          const failures = await createAll(`down${index}-`)
          expect(failures.length).toBeGreaterThan(0)
          for (const error of failures) expect(error).toMatchObject({ name: 'RedisStoreError', retryable: true })
          await restart()
          await expect.poll(() => createAll(`up${index}-${performance.now()}`), { timeout: 10_000 }).toEqual([])
          received.length = 0
          await expect.poll(isDelivered, { timeout: 10_000 }).toBe(true)
        }
        // The other servers keep their tasks.
        for (let n = 0; n < 30; n++) await store.tasks.create(`${n}`, '', 60_000, { owner: 'dead', duration: 1 })
        const restart = await cluster.kill(0)
        const failures = await Promise.allSettled(Array.from({ length: 30 }, async (_, n) => store.tasks.get(`${n}`)))
        expect(failures).toContainEqual({
          status: 'rejected',
          reason: expect.objectContaining({ name: 'RedisStoreError', retryable: true }),
        })
        const claimed = new Set<string>()
        const claim = async () => {
          const task = await Promise.resolve(store.tasks.claim({ owner: 'one', duration: 60_000 })).catch(
            () => undefined,
          )
          return claimed.add(task?.id ?? '').size
        }
        await restart()
        await expect.poll(claim, { timeout: 15_000 }).toBeGreaterThan(10)
        // The next tests use all servers.
        await expect.poll(() => createAll(`end-${performance.now()}`), { timeout: 15_000 }).toEqual([])
        // The subscription was at one of the servers that were killed.
        expect(gaps).toBeGreaterThan(0)
        await store.close()
      })
    })
  })
