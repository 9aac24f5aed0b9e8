/** What clients get to see of something that is registered. */

/** The members of these names that are there. */
export function present<Options extends object, Name extends keyof Options>(
  options: Options,
  ...names: readonly Name[]
): { [Key in Name]?: Exclude<Options[Key], undefined> } {
  const shown: { [Key in Name]?: Exclude<Options[Key], undefined> } = {}
  for (const name of names) {
    const value = options[name]
    if (value !== undefined) shown[name] = value as (typeof shown)[Name]
  }
  return shown
}
