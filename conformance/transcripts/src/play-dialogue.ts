/** The context of a dialogue: connects clients and raw peers to servers over recorded channels. */

import { type Client, type ClientOptions, connect } from '@mcpx/client'
import { type Connector, createDuplex, type Duplex, type Responder } from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { waitForTasks } from '@mcpx/testing'
import { createRecorder, type Recorder } from './recorder.ts'

export interface Stage {
  note: Recorder['note']
  /** Connects a client, which is closed after the dialogue. */
  connect(server: Responder, options?: ClientOptions): Promise<Client>
  /** Connects a raw peer, which sends only the given messages. */
  raw(server: Responder): Duplex
  /** Waits until all messages are handled. */
  rest(): Promise<void>
}

/** The title, the description and the steps of a dialogue. */
export interface Dialogue {
  readonly title: string
  readonly about: string
  play(stage: Stage): Promise<void>
}

const clientInfo = { name: 'transcript-client', version: '1.0.0' }

/** Plays a dialogue and returns its transcript. */
export async function playDialogue({ title, about, play }: Dialogue): Promise<string> {
  const recorder = createRecorder()
  const open: { close(): Promise<void> }[] = []
  const openChannel = (server: Responder) => {
    const [clientEnd, serverEnd] = createChannelPair()
    createDuplex(serverEnd, { responder: server })
    return recorder.record(clientEnd)
  }
  const stage: Stage = {
    note: recorder.note,
    async connect(server, options) {
      const connector: Connector = { connect: (connectOptions) => createDuplex(openChannel(server), connectOptions) }
      const client = await connect(connector, { clientInfo, ...options })
      open.push(client)
      return client
    },
    raw(server) {
      const duplex = createDuplex(openChannel(server))
      open.push(duplex)
      return duplex
    },
    rest: waitForTasks,
  }
  try {
    await play(stage)
    await waitForTasks()
  } finally {
    for (const each of open) await each.close()
  }
  return [`# ${title}`, '#', `# ${about}`, ...recorder.lines, ''].join('\n')
}
