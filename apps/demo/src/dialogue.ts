/** Prints the requests and responses of a client of one era over HTTP, and checks each response. */
import { deepEqual, equal, match } from 'node:assert/strict'
import { type Client, connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { heading, line } from './terminal.ts'
import type { Trains } from './trains.ts'

const eras = {
  modern: "an input request ends the call, and the client repeats the call with the user's answer",
  legacy: 'a session is opened; an input request is sent while the call waits',
}

/** Runs the dialogue; rejects when a response differs from the expected one. */
export async function showDialogue(url: string, era: keyof typeof eras): Promise<void> {
  const requests: string[] = []
  const countingFetch: typeof fetch = (input, init) => {
    requests.push(init?.method ?? 'GET')
    return fetch(input, init)
  }
  const started = performance.now()
  let updated = () => {}
  const update = new Promise<void>((resolve) => {
    updated = resolve
  })
  const client = await connect<Trains>(http(url, { fetch: countingFetch }), {
    era,
    onElicit({ message }) {
      line('?', `${message}  the user says: 7`)
      return { action: 'accept', content: { row: 7 } }
    },
    onChange: (change) => change.kind === 'resource' && updated(),
  })
  heading(`A ${era} client: ${client.revision}`)
  line('·', eras[era])
  await searchAndBook(client, update)
  await completeAndFail(client)
  await client.close()
  line('·', `${requests.length} requests in ${Math.round(performance.now() - started)} ms`)
}

async function searchAndBook(client: Client<Trains>, update: Promise<void>): Promise<void> {
  const tools = (await client.listTools().all()).map(({ name }) => name)
  printExchange('tools/list', tools.join(', '))
  deepEqual(tools, ['search', 'book'])

  const { trains } = await client.tools.search({ to: 'Bergen' })
  printExchange('tools/call search {"to":"Bergen"}', JSON.stringify(trains[0]))
  const before = trains[0]?.free ?? 0

  await client.subscribe('train://R41')
  line('→', 'subscribe to train://R41')
  line('→', 'tools/call book {"train":"R41"}')
  const { content } = await client.callTool(
    'book',
    { train: 'R41' },
    { onProgress: ({ progress, total, message }) => line('·', `${progress} of ${total}: ${message}`) },
  )
  line('←', textOf(content))
  match(textOf(content), /^Row 7 to Bergen at 08:25, receipt \d+$/)
  await update
  const [train] = (await client.readResource('train://R41', { fresh: true })).contents
  const { free } = JSON.parse(train !== undefined && 'text' in train ? train.text : '{}')
  line('!', `train://R41 has changed: ${free} seats are free`)
  equal(free, before - 1)
}

async function completeAndFail(client: Client<Trains>): Promise<void> {
  const ref = { type: 'ref/prompt' as const, name: 'plan' }
  const { completion } = await client.complete({ ref, argument: { name: 'to', value: 'B' } })
  printExchange('completion/complete plan: to = "B…"', completion.values.join(', '))
  deepEqual(completion.values, ['Bergen', 'Bodø'])

  const wrong = await client.callTool('book' as string, { train: 41 }) // a name without types: the compiler refuses 41
  printExchange('tools/call book {"train":41}', textOf(wrong.content))
  equal(wrong.isError, true)
}

function printExchange(request: string, answer: string): void {
  line('→', request)
  line('←', answer)
}

function textOf([block]: readonly { type: string }[]): string {
  return block !== undefined && 'text' in block ? `${block.text}` : ''
}
