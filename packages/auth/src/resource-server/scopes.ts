/** Scopes of tokens, and scopes that imply others. */

/** The scopes that a scope implies: a table, or a function for rules such as `files.*`. */
export type Implies = Readonly<Record<string, readonly string[]>> | ((scope: string) => readonly string[])

export interface ScopeHierarchy {
  /** Returns these scopes and all scopes that they imply. */
  expand(scopes: readonly string[]): readonly string[]
  /** Returns the smallest list of scopes that imply all of these scopes. */
  reduce(scopes: readonly string[]): readonly string[]
}

/** How many scopes one token can grant. Further scopes are ignored. */
const MAX_SCOPES = 1_000

export function createScopeHierarchy(implies: Implies | undefined): ScopeHierarchy {
  if (implies === undefined) return { expand: (scopes) => scopes, reduce: unique }
  const impliedBy = (scope: string): readonly string[] => {
    if (typeof implies === 'function') return implies(scope)
    return Object.hasOwn(implies, scope) ? (implies[scope] ?? []) : []
  }
  const expand = (scopes: readonly string[]): readonly string[] => {
    const all = new Set(scopes)
    // The loop also visits the scopes that it adds.
    for (const scope of all) {
      for (const implied of impliedBy(scope)) if (all.size < MAX_SCOPES) all.add(implied)
    }
    return [...all]
  }
  return {
    expand,
    reduce(scopes) {
      const kept = unique(scopes)
      return kept.filter((scope, index) => {
        // If two scopes imply each other, keep the first.
        const others = kept.filter((other, at) => at !== index && !(at > index && expand([scope]).includes(other)))
        return !others.some((other) => expand([other]).includes(scope))
      })
    },
  }
}

function unique(scopes: readonly string[]): string[] {
  return [...new Set(scopes)]
}

/** Returns the scopes in the claims of a token: a string or a list, in `scope` or `scp`. */
export function scopesOf({ scope, scp }: Readonly<Record<string, unknown>>): string[] {
  const claim = scope ?? scp
  if (typeof claim === 'string') return claim.split(' ').filter((each) => each !== '')
  return Array.isArray(claim) ? claim.filter((each) => typeof each === 'string') : []
}

/** Returns whether a string has the syntax of a scope. */
export function isScope(text: string): boolean {
  return /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text)
}
