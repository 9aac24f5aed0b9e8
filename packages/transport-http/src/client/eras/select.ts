/**
 * Chooses the wire of each message. Deleting the `legacy*` files and every line that names one leaves a client of the
 * modern era.
 */

import { claimsModern, type Message, type RequestMessage } from '@mcpx/protocol'
import { createLaterWire } from './later-wire.ts'
import { createModern } from './modern.ts'
import type { Host, Wire } from './wire.ts'

export interface Wires {
  /** The wire of a request, by what it says of itself; of all else, by the last request. */
  of(message: Message): Wire
  readonly all: readonly Wire[]
}

export function createWires(host: Host): Wires {
  const wires = [createModern(host)] as [Wire, ...Wire[]]
  wires.push(createLaterWire(async () => (await import('./legacy.ts')).createLegacy(host)))
  const [modern, other = modern] = wires
  let last = modern
  return {
    of(message) {
      if (isRequest(message)) last = claimsModern(message) ? modern : other
      return last
    },
    all: wires,
  }
}

function isRequest(message: Message): message is RequestMessage {
  return 'method' in message && 'id' in message
}
