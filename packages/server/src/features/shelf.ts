/** Holds what is registered under names, in the order of registration. */

import { type AuthInfo, type Context, quoted } from '@mcpx/protocol'
import { type Kind, unknownName } from '../members.ts'
import type { Gate } from '../visibility.ts'
import { RegistrationError } from './registration-error.ts'

export interface Shelved {
  readonly name: string
  /** Who may see and use it; nothing when everybody may. */
  readonly gate: Gate | undefined
}

export interface Shelf<Item extends Shelved> {
  /** Whether some items are not for everybody. */
  readonly restricted: boolean
  /** In order. Another array as soon as anything changes. */
  readonly all: readonly Item[]
  /** Those in the lists of the caller. The very array of `all` when none is restricted. */
  visibleTo(auth: AuthInfo | undefined): readonly Item[]
  get(name: string): Item | undefined
  /** The item of this name. Throws where there is none for this caller, or the caller lacks scopes for it. */
  find(name: string, ctx: Context): Item
  /** Replaced items keep their place. */
  put(item: Item, replace?: boolean): void
  /** Whether there was one. */
  remove(name: string): boolean
}

/** `kind` is what its items are called in errors. */
export function createShelf<Item extends Shelved>(kind: Kind): Shelf<Item> {
  const items = new Map<string, Item>()
  let all: readonly Item[] | undefined
  let restricted: boolean | undefined

  function changed(): void {
    all = undefined
    restricted = undefined
  }

  const shelf: Shelf<Item> = {
    get restricted() {
      restricted ??= shelf.all.some(({ gate }) => gate !== undefined)
      return restricted
    },
    get all() {
      all ??= [...items.values()]
      return all
    },
    visibleTo: (auth) => (shelf.restricted ? shelf.all.filter((item) => isListed(item, auth)) : shelf.all),
    get: (name) => items.get(name),
    find(name, { auth }) {
      const item = items.get(name)
      if (item === undefined || !admits(item, auth)) throw unknownName({ kind, name })
      return item
    },
    put(item, replace = false) {
      const { name } = item
      if (!replace && items.has(name)) {
        const what = `${kind[0]?.toUpperCase()}${kind.slice(1)} ${quoted(name)}`
        throw new RegistrationError(`${what} is there already; remove it first, or pass \`replace: true\``)
      }
      items.set(name, item)
      changed()
    },
    remove(name) {
      changed()
      return items.delete(name)
    },
  }
  return shelf
}

/** Whether it is in the lists of this caller. */
export function isListed({ gate }: Shelved, auth: AuthInfo | undefined): boolean {
  return gate === undefined || gate.lists(auth)
}

/** Whether it exists for this caller, who wants to use it. Throws `insufficientScope` for one who lacks scopes. */
export function admits({ gate }: Shelved, auth: AuthInfo | undefined): boolean {
  return gate === undefined || gate.admits(auth)
}
