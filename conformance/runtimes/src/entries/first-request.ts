/**
 * Has the first request of a process of Node's be one whose answer takes longer than `fetch` waits, as short as that is
 * here, and prints what came of it and of one by `fetch` itself. Nothing may be loaded before it that loads `fetch`.
 */
import { subscribe } from 'node:diagnostics_channel'
import process from 'node:process'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'

/** How long `fetch` waits by itself, in ms. Its clock ticks every half a second. */
const IMPATIENCE = 1_000

/** As much of a request of undici, which Node's `fetch` is of, as is used. Without limits of its own it has the default ones. */
interface Created {
  readonly request: { headersTimeout: number | undefined; bodyTimeout: number | undefined }
}

const requests: unknown[] = []
subscribe('undici:request:create', (created) => {
  const { request } = created as Created
  request.headersTimeout ??= IMPATIENCE
  request.bodyTimeout ??= IMPATIENCE
  requests.push(request)
})

const [, , url = ''] = process.argv
const isLoaded = Symbol.for('undici.globalDispatcher.1') in globalThis
const ours = connect(http(url), { era: 'modern' }).then(said, said)
while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
const bare = fetch(url).then(said, said)
process.stdout.write(`${JSON.stringify({ isLoaded, ours: await ours, bare: await bare })}\n`)
process.exit()

/** What a promise came to. */
function said(outcome: unknown): string {
  if (!(outcome instanceof Error)) return 'answered'
  return outcome.cause === undefined ? outcome.message : `${outcome.message}: ${said(outcome.cause)}`
}
