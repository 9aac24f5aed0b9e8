/** How far growth is from what is expected of it, at its worst. */

/**
 * The largest factor by which a cost grows from one point to the next, or from the first to the last, divided by the
 * factor by which it may: that of the sizes when growth is to be linear, else 1.
 */
export function steepest(points: readonly (readonly [size: number, cost: number])[], isLinear: boolean): number {
  const steps = points.slice(1).map((point, index) => [points[index], point] as const)
  const all = [...steps, [points[0], points.at(-1)] as const]
  return Math.max(
    ...all.map(([from, to]) => {
      if (from === undefined || to === undefined) return Number.NaN
      const allowed = isLinear ? to[0] / from[0] : 1
      return to[1] / from[1] / allowed
    }),
  )
}
