/** Serves a dice server on Bun over HTTP and over stdio, and calls its tools. `npm start`, or `bun src/main.ts` */
import { strict as assert } from 'node:assert'
import { type Connector, connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { spawn } from '@mcpx/transport-stdio'
import app from './app.ts'
import type { Dice } from './server.ts'

/** The part of Bun's types that this file uses. A real project installs `@types/bun`. */
declare const Bun: {
  serve(options: object): { readonly url: URL; stop(force: boolean): Promise<void> }
}

// Bun closes connections that are idle for ten seconds. `app.idleTimeout` prevents this. With `export default app`, the
// option is not needed.
const served = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: app.fetch, idleTimeout: app.idleTimeout })
await play('HTTP', http(served.url))
await served.stop(true)

await play('stdio', spawn('bun', [`${import.meta.dirname}/program.ts`]))
console.log('ok')

async function play(transport: string, connector: Connector): Promise<void> {
  for (const era of ['modern', 'legacy'] as const) {
    await using dice = await connect<Dice>(connector, {
      era,
      onElicit: () => ({ action: 'accept', content: { on: 6 } }),
    })
    const { shows } = await dice.tools.roll({ sides: 6 })
    assert.ok(shows >= 1 && shows <= 6)
    const { content } = await dice.callTool('bet')
    assert.deepEqual(content, [{ type: 'text', text: 'You bet on 6.' }])
    console.log(`${transport}, ${dice.revision}: rolled ${shows}, placed a bet`)
  }
}
