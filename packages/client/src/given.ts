/** Says what to write in the place of what cannot be connected to, or not like that. Loaded only for that. */

import { kindOf, quoted, REVISIONS } from '@mcpx/protocol'

export function wrongTarget(target: unknown): TypeError {
  if (typeof target === 'string' || target instanceof URL)
    return new TypeError(`connect: write connect(http(${quoted(String(target))})); a URL has no carrier yet`)
  return wrong('connect: expected http(url), spawn(command, args) or a server', kindOf(target))
}

export function wrongEra(era: unknown): TypeError {
  return wrong(`era: expected auto, modern, legacy or one of ${REVISIONS.join(', ')}`, quoted(String(era)))
}

/** `form` is how the call is written. */
export function wrongFirst(form: string, first: unknown): TypeError {
  return wrong(`${form}: expected string first`, kindOf(first))
}

function wrong(expected: string, found: string): TypeError {
  return new TypeError(`${expected}, got ${found}`)
}
