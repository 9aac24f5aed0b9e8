/** Holds what is registered under names, in the order of registration. */

import { type AuthInfo, quoted } from '@mcpx/protocol'
import type { Gate } from '../visibility.ts'
import { RegistrationError } from './registration-error.ts'

export interface Shelved {
  readonly name: string
  /** Who may see and use it; nothing when everybody may. */
  readonly gate: Gate | undefined
}

export class Shelf<Item extends Shelved> {
  readonly #what: string
  readonly #items = new Map<string, Item>()
  #all: readonly Item[] | undefined
  #restricted: boolean | undefined

  /** `what` is what its items are called in errors, such as `Tool`. */
  constructor(what: string) {
    this.#what = what
  }

  /** Whether some items are not for everybody. */
  get restricted(): boolean {
    this.#restricted ??= this.all.some((item) => item.gate !== undefined)
    return this.#restricted
  }

  /** In order. Another array as soon as anything changes. */
  get all(): readonly Item[] {
    this.#all ??= [...this.#items.values()]
    return this.#all
  }

  /** Those in the lists of the caller. The very array of `all` when none is restricted. */
  visibleTo(auth: AuthInfo | undefined): readonly Item[] {
    if (!this.restricted) return this.all
    return this.all.filter((item) => item.gate === undefined || item.gate.lists(auth))
  }

  get(name: string): Item | undefined {
    return this.#items.get(name)
  }

  /** Replaced items keep their place. */
  put(item: Item, replace = false): void {
    if (!replace && this.#items.has(item.name)) {
      const name = quoted(item.name)
      throw new RegistrationError(`${this.#what} ${name} is there already; remove it first, or pass \`replace: true\``)
    }
    this.#items.set(item.name, item)
    this.#changed()
  }

  /** Whether there was one. */
  remove(name: string): boolean {
    if (!this.#items.delete(name)) return false
    this.#changed()
    return true
  }

  #changed(): void {
    this.#all = undefined
    this.#restricted = undefined
  }
}

/** Whether it exists for this caller, who wants to use it. Throws `insufficientScope` for one who lacks scopes. */
export function admits({ gate }: Shelved, auth: AuthInfo | undefined): boolean {
  return gate === undefined || gate.admits(auth)
}
