/** Writes down what passes through a channel, one line for each message, in words that are the same each time. */

import type { Channel, Decoded, JsonObject, Message } from '@mcpx/protocol'

export interface Recorder {
  /** The lines so far. */
  readonly lines: string[]
  /** A line that says what happens on either side. */
  note(words: string): void
  /** The client's end of a channel, listened in on. */
  listenIn(channel: Channel): Channel
}

export function createRecorder(): Recorder {
  const lines: string[] = []
  return {
    lines,
    note(words) {
      lines.push('', `# ${words}`)
    },
    listenIn: (channel) => ({
      send(message) {
        lines.push(`C -> S ${written(message)}`)
        return channel.send(message)
      },
      receive: (receiver) =>
        channel.receive((item) => {
          lines.push(`S -> C ${written(item)}`)
          return receiver(item)
        }),
      close: () => channel.close(),
    }),
  }
}

/** Text that is made anew each time, by the names of the members that hold it. */
const changing: Readonly<Record<string, string>> = {
  requestState: '<sealed>',
  elicitationId: '<visit>',
}

function written(message: Message | Message[] | Decoded): string {
  return JSON.stringify(message, (key, value: unknown) => {
    if (typeof value !== 'string') return value
    if (Object.hasOwn(changing, key)) return changing[key]
    return value.replace(/\((error )?[\da-f]{8}\)/, '($1<fault>)')
  })
}

/** The messages of a transcript, and who sent each. */
export function readTranscript(text: string): { readonly from: 'C' | 'S'; readonly message: JsonObject }[] {
  return text.split('\n').flatMap((line) => {
    const [, from, json] = /^([CS]) -> [CS] (.*)$/.exec(line) ?? []
    return json === undefined ? [] : [{ from: from as 'C' | 'S', message: JSON.parse(json) as JsonObject }]
  })
}
