/** Mutates a value in one place, with typical errors of peers. */

/** Creates a seeded generator of numbers from 0 to 1. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** Strings with a meaning in the protocol, which make likely mutations. */
const protocolStrings = [
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
const otherValues: readonly unknown[] = [null, true, 0, 7, -1, 0.5, 1.5, '', 'x', [], ['x'], [7], {}, { a: 1 }]

type Place = readonly (string | number)[]

/** Returns a copy with one mutation: a removed or added member or item, or a value of another type. */
export function mutate(value: unknown, random: () => number): unknown {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
  const place = pick(placesIn(value))
  const found = at(value, place)
  const mutations: (() => unknown)[] = [() => pick(otherValues), () => pick(otherValues)]
  if (typeof found === 'string')
    mutations.push(
      () => pick(protocolStrings),
      () => pick(protocolStrings),
      () => Number(found.length),
    )
  if (typeof found === 'number')
    mutations.push(
      () => found + 0.5,
      () => String(found),
      () => -found - 1,
      () => found + 200,
    )
  if (Array.isArray(found)) {
    mutations.push(
      () => [...found, pick(otherValues)],
      () => [...found, ...found, ...found],
      () => Array(101).fill(found[0] ?? 'x'),
    )
  } else if (typeof found === 'object' && found !== null) {
    const keys = Object.keys(found)
    if (keys.length > 0) mutations.push(...Array(4).fill(() => without(found, pick(keys))))
    mutations.push(
      () => ({ ...found, 'x-more': pick(otherValues) }),
      () => [found],
    )
  }
  return replaceAt(value, place, pick(mutations)())
}

function placesIn(value: unknown, place: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [place]
  const entries = Array.isArray(value) ? value.map((item, index) => [index, item] as const) : Object.entries(value)
  return [place, ...entries.flatMap(([key, member]) => placesIn(member, [...place, key]))]
}

function at(value: unknown, place: Place): unknown {
  return place.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown>)[key], value)
}

function replaceAt(value: unknown, [key, ...rest]: Place, by: unknown): unknown {
  if (key === undefined) return by
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? replaceAt(item, rest, by) : item))
  const own = value as Record<string, unknown>
  return { ...own, [key]: replaceAt(own[key], rest, by) }
}

function without(value: object, key: string): unknown {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))
}
