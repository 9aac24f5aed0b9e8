/** Spoils a value in one place, in the ways that peers get things wrong. */

/** A small generator of numbers from 0 to 1 that a seed decides. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** Words that mean something somewhere, so that a wrong one is a likely one. */
const words = [
  'text',
  'image',
  'audio',
  'resource',
  'resource_link',
  'tool_use',
  'tool_result',
  'object',
  'string',
  'number',
  'array',
  'boolean',
  'form',
  'url',
  'ref/prompt',
  'ref/resource',
  'user',
  'assistant',
  'system',
  'accept',
  'complete',
  'input_required',
  'public',
  'loud',
  'debug',
  '2.0',
  '1.0',
  'tools/list',
  'roots/list',
  'elicitation/create',
  'email',
  'auto',
  'working',
  'light',
]
const strangers: readonly unknown[] = [null, true, 0, 7, -1, 0.5, 1.5, '', 'x', [], ['x'], [7], {}, { a: 1 }]

type Place = readonly (string | number)[]

/** A copy with one thing changed: a member gone, another kind, another word, nothing, one more, an item too much. */
export function mutate(value: unknown, random: () => number): unknown {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
  const place = pick(placesIn(value))
  const found = at(value, place)
  const ways: (() => unknown)[] = [() => pick(strangers), () => pick(strangers)]
  if (typeof found === 'string')
    ways.push(
      () => pick(words),
      () => pick(words),
      () => Number(found.length),
    )
  if (typeof found === 'number')
    ways.push(
      () => found + 0.5,
      () => String(found),
      () => -found - 1,
      () => found + 200,
    )
  if (Array.isArray(found)) {
    ways.push(
      () => [...found, pick(strangers)],
      () => [...found, ...found, ...found],
      () => Array(101).fill(found[0] ?? 'x'),
    )
  } else if (typeof found === 'object' && found !== null) {
    const keys = Object.keys(found)
    if (keys.length > 0) ways.push(...Array(4).fill(() => without(found, pick(keys))))
    ways.push(
      () => ({ ...found, 'x-more': pick(strangers) }),
      () => [found],
    )
  }
  return replaced(value, place, pick(ways)())
}

function placesIn(value: unknown, place: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [place]
  const entries = Array.isArray(value) ? value.map((item, index) => [index, item] as const) : Object.entries(value)
  return [place, ...entries.flatMap(([key, member]) => placesIn(member, [...place, key]))]
}

function at(value: unknown, place: Place): unknown {
  return place.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown>)[key], value)
}

function replaced(value: unknown, [key, ...rest]: Place, by: unknown): unknown {
  if (key === undefined) return by
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? replaced(item, rest, by) : item))
  const own = value as Record<string, unknown>
  return { ...own, [key]: replaced(own[key], rest, by) }
}

function without(value: object, key: string): unknown {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))
}
