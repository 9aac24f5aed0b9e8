/** Limits as somebody gave them, with defaults for the rest. */

/** Absent and `undefined` mean the default. Throws a `RangeError` for what bounds nothing, such as `NaN`. */
export function withDefaultLimits<Limits extends object>(
  defaults: Readonly<Limits>,
  given: Partial<Limits> = {},
): Limits {
  const limits: Limits = { ...defaults }
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    if (typeof value !== 'number' || !(value >= 0)) {
      throw new RangeError(`limits.${name}: expected a number of 0 or more, got ${String(value)}`)
    }
    limits[name as keyof Limits] = value as Limits[keyof Limits]
  }
  return limits
}
