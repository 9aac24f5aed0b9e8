/** How clients are told of a change, in any era. */

import type { Change, JsonObject } from '@mcpx/protocol'

export interface Told {
  readonly method: string
  readonly params?: JsonObject
}

export function toldOf(change: Change): Told {
  return change.kind === 'resource'
    ? { method: 'notifications/resources/updated', params: { uri: change.uri } }
    : { method: `notifications/${change.kind}/list_changed` }
}
