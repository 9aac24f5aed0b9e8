/** Starts the server in a process of its own, uses it in both eras, and checks what comes. `node apps/examples/hello-stdio/src/main.ts` */
import { strict as assert } from 'node:assert'
import { fileURLToPath } from 'node:url'
import { type Client, connect } from '@mcpx/client'
import { type ServerExitError, spawn } from '@mcpx/transport-stdio'
import type { Desk } from './server.ts'

const file = fileURLToPath(new URL('server.ts', import.meta.url))
// The flags of this process are the server's too: they say how sources are found.
const args = [...process.execArgv, file]

for (const era of ['modern', 'legacy'] as const) await useDesk(era)
await useOldServer()
console.log('ok')

async function useDesk(era: 'modern' | 'legacy'): Promise<void> {
  const logged: string[] = []
  const connector = spawn(process.execPath, args, { stderr: (text) => void logged.push(text) })
  const client = await connect<Desk>(connector, {
    era,
    onElicit: () => ({ action: 'accept', content: { table: 7 } }),
  })
  assert.equal(client.era, era)
  assert.equal(client.server.info?.name, 'desk')
  await checkCalls(client)
  assert.match(logged.join(''), /adding 1 and 2/)
  await checkCancelling(client)
  await checkCrash(client)
  await client.close()
  console.log(`${era}: ${client.revision}, called, asked, cancelled, crashed, started again, closed`)
}

/** A server that does not survive a question from the newer era is started again for the older one. */
async function useOldServer(): Promise<void> {
  const old = fileURLToPath(new URL('old-server.ts', import.meta.url))
  let starts = 0
  const stderr = () => {
    starts += 1
  }
  const client = await connect(spawn(process.execPath, [...process.execArgv, old], { stderr }))
  assert.equal(client.era, 'legacy')
  assert.equal(client.server.info?.name, 'old')
  await client.ping()
  await client.close()
  assert.equal(starts, 2)
  console.log(`old server: ${client.revision} at the second start`)
}

async function checkCalls(client: Client<Desk>): Promise<void> {
  const many = Array.from({ length: 100 }, (_, n) => client.tools.add({ a: n, b: 2 }))
  assert.deepEqual(
    await Promise.all(many),
    many.map((_, n) => ({ sum: n + 2 })),
  )
  const { content } = await client.callTool('order', { dish: 'Soup' })
  assert.deepEqual(content, [{ type: 'text', text: 'Soup for table 7' }])
}

async function checkCancelling(client: Client<Desk>): Promise<void> {
  const signal = AbortSignal.timeout(50)
  await assert.rejects(client.callTool('wait', {}, { signal }), { name: 'ConnectionError', reason: 'cancelled' })
}

/** A call that is lost with its process says why; the next one starts another. */
async function checkCrash(client: Client<Desk>): Promise<void> {
  const error = await client.callTool('crash').then(
    () => undefined,
    (reason: Error) => reason,
  )
  const exit = error?.cause as ServerExitError
  assert.equal(exit.exitCode, 3)
  assert.equal(exit.stderr.at(-1), 'out of paper')
  assert.deepEqual(await client.tools.add({ a: 1, b: 2 }), { sum: 3 })
}
