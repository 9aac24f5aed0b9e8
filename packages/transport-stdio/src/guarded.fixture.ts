/** A server whose first import guards standard output: `node --conditions=source guarded.fixture.ts [unguarded]`. */

import '@mcpx/transport-stdio/guard'
import './noisy.fixture.ts'
import { type Message, type RequestMessage, resultMessage } from '@mcpx/protocol'
import { serveStdio } from '@mcpx/transport-stdio'

const { console } = globalThis

function respond(message: Message) {
  console.log('stray log of a call')
  return resultMessage((message as RequestMessage).id, {})
}

await serveStdio({ respond }, { guard: process.argv[2] !== 'unguarded' })
