/** The largest ratio of measured and expected growth. */

type Points = readonly (readonly [size: number, cost: number])[]

/**
 * The largest factor by which a cost grows from one point to the next or from the first to the last, divided by the
 * expected factor. The expected factor is the factor of the sizes for linear growth, otherwise 1. If the baseline
 * grows by more at the same sizes, for example because large strings exceed the caches, its factor is the expected
 * factor.
 */
export function growthFactor(points: Points, isLinear: boolean, least: Points = []): number {
  const steps = points.slice(1).map((_, index) => [index, index + 1] as const)
  const all = [...steps, [0, points.length - 1] as const]
  return Math.max(
    ...all.map(([from, to]) => {
      const allowed = isLinear ? growth(points, from, to, 0) : 1
      const byItself = least.length === points.length ? growth(least, from, to, 1) : 0
      return growth(points, from, to, 1) / Math.max(allowed, byItself)
    }),
  )
}

/** Returns the factor by which a size (0) or its cost (1) grows from one point to another. */
function growth(points: Points, from: number, to: number, of: 0 | 1): number {
  return (points[to]?.[of] ?? Number.NaN) / (points[from]?.[of] ?? Number.NaN)
}
