/**
 * A process that closes its store while Redis is away: `node --conditions=source process.fixture.ts <library> <port>`. It
 * prints `ready`, closes the store and its client when its input ends, and then has to exit by itself.
 */

import { redisStore } from './index.ts'
import { connectBy } from './redis.fixture.ts'

const [library = '', port = ''] = process.argv.slice(2)
const connected = await connectBy[library as keyof typeof connectBy](Number(port))
const store = redisStore(connected.client)
await store.bus.subscribe('t', () => {})
void (async () => {
  for await (const _ of store.events.follow(await store.events.append('s', ''), new AbortController().signal));
})().catch(() => {})
process.stdout.write('ready\n')
for await (const _ of process.stdin);
await store.close()
connected.close()
