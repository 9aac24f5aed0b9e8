/** How far growth is from what is expected of it, at its worst. */

type Points = readonly (readonly [size: number, cost: number])[]

/**
 * The largest factor by which a cost grows from one point to the next, or from the first to the last, divided by the
 * factor by which it may: that of the sizes when growth is to be linear, else 1. Where the least that can be done, at the
 * same sizes, grows by more than that by itself, as large texts do that no cache holds, it may grow as much.
 */
export function steepest(points: Points, isLinear: boolean, least: Points = []): number {
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

/** By which factor a size (0) or its cost (1) grows from one point to another. */
function growth(points: Points, from: number, to: number, of: 0 | 1): number {
  return (points[to]?.[of] ?? Number.NaN) / (points[from]?.[of] ?? Number.NaN)
}
