/** Serves dice on Bun in both ways, and plays. `npm start`, or `bun src/main.ts` */
import { strict as assert } from 'node:assert'
import { type Connector, connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { spawn } from '@mcpx/transport-stdio'
import app from './app.ts'
import type { Dice } from './server.ts'

/** What is used of Bun here; a project of its own has `@types/bun`. */
declare const Bun: {
  serve(options: object): { readonly url: URL; stop(force: boolean): Promise<void> }
}

// Bun cuts a connection that was silent for ten seconds, unless it is told otherwise. A default export says so itself.
const served = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: app.fetch, idleTimeout: app.idleTimeout })
await play('HTTP', http(served.url))
await served.stop(true)

await play('a pipe', spawn('bun', [`${import.meta.dirname}/program.ts`]))
console.log('ok')

async function play(way: string, connector: Connector): Promise<void> {
  for (const era of ['modern', 'legacy'] as const) {
    await using dice = await connect<Dice>(connector, {
      era,
      onElicit: () => ({ action: 'accept', content: { on: 6 } }),
    })
    const { shows } = await dice.tools.roll({ sides: 6 })
    assert.ok(shows >= 1 && shows <= 6)
    const { content } = await dice.callTool('bet')
    assert.deepEqual(content, [{ type: 'text', text: 'You bet on 6.' }])
    console.log(`over ${way}, ${dice.revision}: rolled ${shows}, was asked for a bet`)
  }
}
