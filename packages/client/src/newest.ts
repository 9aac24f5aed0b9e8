/** Maps that hold so much and no more. */

/** Puts a value at the end of a map. What was put there first makes room for it when the map is full. */
export function keepNewest<Value>(map: Map<string, Value>, limit: number, key: string, value: Value): void {
  map.delete(key)
  const [oldest] = map.size >= limit ? map.keys() : []
  if (oldest !== undefined) map.delete(oldest)
  map.set(key, value)
}
