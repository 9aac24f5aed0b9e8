/** Tool calls between two duplex connections in one process, compared with plain JSON and zod. */
import { type Channel, createDuplex, decode, encode, type Message, resultMessage } from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import * as z from 'zod'
import type { SpeedCase, Work } from '../case.ts'

const Arguments = z.object({ a: z.number(), b: z.number() })

/** The tool, which all subjects use. */
async function add(given: unknown): Promise<{ content: { type: 'text'; text: string }[] }> {
  const { a, b } = Arguments.parse(given)
  return { content: [{ type: 'text', text: String(a + b) }] }
}

function isFive(result: unknown): boolean {
  return JSON.stringify(result) === '{"content":[{"type":"text","text":"5"}]}'
}

function bareFunction(): Work {
  return { call: () => add({ a: 2, b: 3 }), isRight: isFive }
}

function bareJson(): Work {
  let id = 0
  const answer = async (text: string): Promise<string> => {
    const message = JSON.parse(text)
    return JSON.stringify({ jsonrpc: '2.0', id: message.id, result: await add(message.params.arguments) })
  }
  const call = async () => {
    const params = { name: 'add', arguments: { a: 2, b: 3 } }
    return JSON.parse(await answer(JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params }))).result
  }
  return { call, isRight: isFive }
}

function duplexOver([near, far]: readonly [Channel, Channel]): Work {
  createDuplex(far, {
    responder: {
      async respond(message) {
        return 'id' in message ? resultMessage(message.id, await add(message.params?.arguments)) : undefined
      },
    },
  })
  const client = createDuplex(near)
  const call = () => client.request('tools/call', { name: 'add', arguments: { a: 2, b: 3 } })
  return { call, isRight: isFive }
}

/** Passes messages through the channels as lines of JSON. */
function inText(end: Channel): Channel {
  return {
    send: (message) => end.send(encode(message as Message) as unknown as Message),
    receive: (receiver) => end.receive((line) => receiver(decode(line as unknown as string))),
    close: () => end.close(),
  }
}

export const duplex: SpeedCase = {
  kind: 'speed',
  name: 'duplex',
  says: 'Round trip of a `tools/call` with two numbers to an async tool that checks them with zod, one call at a time.',
  subjects: [
    {
      name: 'bare-json',
      says: 'JSON text to a function and back, awaited: no ids to match, no envelope to check, no limits',
      prepare: bareJson,
    },
    {
      name: 'bare-function',
      says: 'the tool alone, awaited',
      against: 'bare-json',
      prepare: bareFunction,
    },
    {
      name: 'memory',
      says: 'two duplexes over `createChannelPair`, which passes objects without writing them as text',
      against: 'bare-json',
      atMost: 1.2,
      prepare: () => duplexOver(createChannelPair()),
    },
    {
      name: 'text',
      says: 'the same with each message encoded and decoded, as over a pipe',
      against: 'bare-json',
      prepare: () => {
        const [near, far] = createChannelPair()
        return duplexOver([inText(near), inText(far)])
      },
    },
  ],
}
