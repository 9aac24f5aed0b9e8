/** A map of running requests: `ShortLivedMap` compared with `Map`, which causes more garbage collection. */
import { ShortLivedMap } from '@mcpx/protocol'
import type { SpeedCase, Work } from '../case.ts'

/** The number of requests that run at the same time. */
const RUNNING = 16

interface Requests {
  readonly size: number
  set(key: number, value: object): unknown
  delete(key: number): boolean
}

function addAndDelete(requests: Requests): Work {
  let id = 0
  const call = () => {
    const first = id + 1
    for (let n = 0; n < RUNNING; n++) {
      id += 1
      requests.set(id, { message: new Array(100).fill(id) })
    }
    for (let key = first; key <= id; key++) requests.delete(key)
    return requests.size
  }
  return { call, isRight: (size) => size === 0 }
}

export const maps: SpeedCase = {
  kind: 'speed',
  name: 'maps',
  says: 'Sixteen running requests are added to a map and deleted.',
  subjects: [
    { name: 'map', says: '`Map`', prepare: () => addAndDelete(new Map()) },
    {
      name: 'short-lived-map',
      says: '`ShortLivedMap`, which the transports use',
      against: 'map',
      atMost: 0.75,
      prepare: () => addAndDelete(new ShortLivedMap()),
    },
  ],
}
