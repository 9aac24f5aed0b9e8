/** Where a dialogue is played: clients and raw peers, connected to servers over recorded channels. */

import { type Client, type ClientOptions, connect } from '@mcpx/client'
import { type Connector, createDuplex, type Duplex, type Responder } from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { settled } from '@mcpx/testing'
import { createRecorder, type Recorder } from './recorder.ts'

export interface Stage {
  note: Recorder['note']
  /** The real client. It is closed when the dialogue is over. */
  connect(server: Responder, options?: ClientOptions): Promise<Client>
  /** A peer that sends what it is told to, and nothing else. */
  raw(server: Responder): Duplex
  /** Waits until nothing moves any more. */
  rest(): Promise<void>
}

/** The title of a dialogue, what is to be known about it, and how it goes. */
export interface Dialogue {
  readonly title: string
  readonly about: string
  play(stage: Stage): Promise<void>
}

const clientInfo = { name: 'transcript-client', version: '1.0.0' }

/** Plays a dialogue and gives what was said, as a document. */
export async function perform({ title, about, play }: Dialogue): Promise<string> {
  const recorder = createRecorder()
  const open: { close(): Promise<void> }[] = []
  const endOf = (server: Responder) => {
    const [here, there] = createChannelPair()
    createDuplex(there, { responder: server })
    return recorder.listenIn(here)
  }
  const stage: Stage = {
    note: recorder.note,
    async connect(server, options) {
      const connector: Connector = { connect: (given) => createDuplex(endOf(server), given) }
      const client = await connect(connector, { clientInfo, ...options })
      open.push(client)
      return client
    },
    raw(server) {
      const duplex = createDuplex(endOf(server))
      open.push(duplex)
      return duplex
    },
    rest: settled,
  }
  try {
    await play(stage)
    await settled()
  } finally {
    for (const each of open) await each.close()
  }
  return [`# ${title}`, '#', `# ${about}`, ...recorder.lines, ''].join('\n')
}
