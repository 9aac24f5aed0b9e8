/** What Hono's server for Node gives as a request, and only looks like one. */

/** How such objects are made. */
export interface Likeness {
  /** They have their headers from the first look at them on: whoever looked may have changed them. */
  headersOf(request: Request): Headers | undefined
}

/** By the prototype of the objects: there are as many as there are copies of that server. */
const known = new WeakMap<object, Likeness | undefined>()

/**
 * What a middleware put in the place of such an object is a request, of whatever class: then there is none. The
 * prototype of a class knows its constructor.
 */
export function likenessOf(request: Request): Likeness | undefined {
  const prototype: object = Object.getPrototypeOf(request)
  if (!known.has(prototype)) known.set(prototype, Object.hasOwn(prototype, 'constructor') ? undefined : look(request))
  return known.get(prototype)
}

/** Looks at the headers of a copy, to see where they are kept: to look for them in each request costs more than all that is read of them. */
function look(request: Request): Likeness {
  const copy = Object.create(Object.getPrototypeOf(request), Object.getOwnPropertyDescriptors(request)) as Request
  const { headers } = copy
  const place = Object.getOwnPropertySymbols(copy).find((key) => at(copy, key) === headers)
  return { headersOf: (seen) => (place === undefined ? undefined : at(seen, place)) }
}

function at(request: Request, key: symbol): Headers | undefined {
  return (request as unknown as Record<symbol, Headers | undefined>)[key]
}
