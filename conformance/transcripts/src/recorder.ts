/** Records the messages of a channel as lines, with random values replaced. */

import type { Channel, Decoded, JsonObject, Message } from '@mcpx/protocol'

export interface Recorder {
  /** The lines so far. */
  readonly lines: string[]
  /** Adds a comment line. */
  note(text: string): void
  /** Wraps the client's end of a channel so that its messages are recorded. */
  record(channel: Channel): Channel
}

export function createRecorder(): Recorder {
  const lines: string[] = []
  return {
    lines,
    note(text) {
      lines.push('', `# ${text}`)
    },
    record: (channel) => ({
      send(message) {
        lines.push(`C -> S ${format(message)}`)
        return channel.send(message)
      },
      receive: (receiver) =>
        channel.receive((item) => {
          lines.push(`S -> C ${format(item)}`)
          return receiver(item)
        }),
      close: () => channel.close(),
    }),
  }
}

/** Placeholders for random values, by the name of the member. */
const placeholders: Readonly<Record<string, string>> = {
  requestState: '<sealed>',
  elicitationId: '<visit>',
}

function format(message: Message | Message[] | Decoded): string {
  return JSON.stringify(message, (key, value: unknown) => {
    if (typeof value !== 'string') return value
    if (Object.hasOwn(placeholders, key)) return placeholders[key]
    return value.replace(/\((error )?[\da-f]{8}\)/, '($1<fault>)')
  })
}

/** Parses the messages of a transcript, with their senders. */
export function readTranscript(text: string): { readonly from: 'C' | 'S'; readonly message: JsonObject }[] {
  return text.split('\n').flatMap((line) => {
    const [, from, json] = /^([CS]) -> [CS] (.*)$/.exec(line) ?? []
    return json === undefined ? [] : [{ from: from as 'C' | 'S', message: JSON.parse(json) as JsonObject }]
  })
}
