/** Scopes that hold others: what a token grants is more than it lists. */

/** What a scope implies: a table, or a function for hierarchies that are a rule, such as `files.*`. */
export type Implies = Readonly<Record<string, readonly string[]>> | ((scope: string) => readonly string[])

export interface Hierarchy {
  /** All scopes that these grant. */
  whole(scopes: readonly string[]): readonly string[]
  /** The fewest scopes that grant the same. */
  least(scopes: readonly string[]): readonly string[]
}

/** The number of scopes that one token may grant; the rest does not count. */
const MAX_SCOPES = 1_000

export function createHierarchy(implies: Implies | undefined): Hierarchy {
  if (implies === undefined) return { whole: (scopes) => scopes, least: unique }
  const impliedBy = (scope: string): readonly string[] => {
    if (typeof implies === 'function') return implies(scope)
    return Object.hasOwn(implies, scope) ? (implies[scope] ?? []) : []
  }
  const whole = (scopes: readonly string[]): readonly string[] => {
    const all = new Set(scopes)
    // What is added while the set is walked is walked too.
    for (const scope of all) {
      for (const each of impliedBy(scope)) if (all.size < MAX_SCOPES) all.add(each)
    }
    return [...all]
  }
  return {
    whole,
    least(scopes) {
      const kept = unique(scopes)
      return kept.filter((scope, index) => {
        const others = kept.filter((other, at) => at !== index && !(at > index && whole([scope]).includes(other)))
        return !others.some((other) => whole([other]).includes(scope))
      })
    },
  }
}

function unique(scopes: readonly string[]): string[] {
  return [...new Set(scopes)]
}

/** As tokens and introspection write them: a text with spaces, or a list, by one of two names. */
export function scopesOf({ scope, scp }: Readonly<Record<string, unknown>>): string[] {
  const given = scope ?? scp
  if (typeof given === 'string') return given.split(' ').filter((each) => each !== '')
  return Array.isArray(given) ? given.filter((each) => typeof each === 'string') : []
}

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

export function isScope(text: string): boolean {
  return SCOPE.test(text)
}
