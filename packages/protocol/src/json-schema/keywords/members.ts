/** The keywords that go into the members of an object. */

import type { Family, Maker, Members, Node } from '../node.ts'
import { all, type Check, enter, every, Hindrance, type Run, type Seen, spend } from '../run.ts'
import { forObjects, has, namesOf } from './objects.ts'

const properties: Maker<Members<Node>> = (members) =>
  all(
    members.map(([name, node]) =>
      forObjects((value, run, seen) => {
        if (!has(value, name)) return true
        seen?.add(name)
        return enter(node, value[name], name, run)
      }),
    ),
  )

/** The check that each property is taken to by its name. */
export const membersBy = (nodesFor: (name: string, run: Run, seen: Seen) => readonly Node[]): Check =>
  forObjects((value, run, seen) =>
    every(namesOf(value, run), run, (name) => {
      const member = value[name]
      const nodes = member === undefined ? none : nodesFor(name, run, seen)
      if (nodes.length === 0) return true
      if (/[\ud800-\udfff]/u.test(name)) throw new Hindrance('has a property name that is not well-formed Unicode')
      seen?.add(name)
      return every(nodes, run, (node) => enter(node, member, name, run))
    }),
  )

export const none: readonly Node[] = []

/** `patternProperties`, and `additionalProperties` for what neither these nor `properties` know. */
const byPatterns: Maker<unknown> = (_, keywords, { limits }) => {
  const { patternProperties = [], additionalProperties } = keywords
  const patterns = patternProperties.map(([text, node]) => [new RegExp(text, 'u'), node] as const)
  const known = new Set(keywords.properties?.map(([name]) => name))
  const others = additionalProperties ? [additionalProperties] : none
  return membersBy((name, run) => {
    let nodes = none
    if (patterns.length > 0) {
      spend(run, patterns.length * (1 + (name.length >> 4)))
      if (name.length > limits.maxPatternInput) throw new RangeError('a property name is too long')
      nodes = patterns.filter(([pattern]) => pattern.test(name)).map(([, node]) => node)
    }
    return nodes.length > 0 || known.has(name) ? nodes : others
  })
}

export const members: Family = {
  properties: ['map', properties],
  patternProperties: ['map', byPatterns],
  additionalProperties: [
    'one',
    (_, keywords, options) => (keywords.patternProperties ? undefined : byPatterns(_, keywords, options)),
  ],
}
