/** The keywords for objects. */

import {
  type Check,
  CheckAborted,
  checkMember,
  checkSeparately,
  combineChecks,
  type EvaluatedKeys,
  type Evaluation,
  type Finding,
  failWith,
  spendSteps,
  testEach,
} from '../evaluate.ts'
import { hasMember, isObject, type JsonObject } from '../json.ts'
import {
  type CheckBuilder,
  type KeywordDefinition,
  type KeywordGroup,
  limitSize,
  type Members,
  nameListRule,
  type SchemaNode,
  sizeRule,
} from '../keyword.ts'
import { appendToPath, formatValue, truncate } from '../messages.ts'
import { applyNode } from './combining.ts'

type ObjectCheck = (value: JsonObject, evaluation: Evaluation, evaluated: EvaluatedKeys) => boolean

/** Wraps a check so that it applies only to objects. All other values are valid. */
const forObjects =
  (check: ObjectCheck): Check =>
  (value, evaluation, evaluated) =>
    !isObject(value) || check(value, evaluation, evaluated)

/** Returns the property names. Each costs a step, because engines create the list slowly for large objects. */
function namesOf(value: object, evaluation: Evaluation): string[] {
  const names = Object.keys(value)
  spendSteps(evaluation, names.length)
  return names
}

const countNames = (value: object, evaluation: Evaluation) => namesOf(value, evaluation).length

const describeMissing = (cause: string | undefined) =>
  cause === undefined ? 'is required' : `is required when ${formatValue(cause)} is present`

/** Creates a check of required properties. `cause` is the property that makes them required. */
const requireNames = (names: readonly string[], cause?: string) =>
  combineChecks(
    names.map((name) =>
      forObjects((value, evaluation) => {
        if (hasMember(value, name)) return true
        const { path } = evaluation
        if (evaluation.findings) evaluation.path = appendToPath(path, name)
        failWith(evaluation, describeMissing, cause, 0)
        evaluation.path = path
        return false
      }),
    ),
  )

/** Builds the check of dependencies: if a property exists, other properties must exist, or the object must match a schema. */
const buildDependencies: CheckBuilder<Members<SchemaNode | readonly string[]>> = (dependencies) =>
  combineChecks(
    dependencies.map(([cause, required]) => {
      const check = 'check' in required ? applyNode(required) : requireNames(required, cause)
      return forObjects((value, evaluation, evaluated) => {
        return !hasMember(value, cause) || check(value, evaluation, evaluated)
      })
    }),
  )

const describeName = (problem: string, name: string) => {
  const separator = problem === 'is not allowed' ? ' ' : ': '
  return `property name ${JSON.stringify(truncate(name, 60))}${separator}${problem}`
}

const buildPropertyNames: CheckBuilder<SchemaNode> = (node) =>
  forObjects((value, evaluation) =>
    testEach(namesOf(value, evaluation), evaluation, (name) => {
      const findings: Finding[] | undefined = evaluation.findings && []
      if (checkSeparately(node, name, evaluation, undefined, findings)) return true
      return failWith(evaluation, describeName, findings?.[0]?.message ?? '', name)
    }),
  )

const buildProperties: CheckBuilder<Members<SchemaNode>> = (properties) =>
  combineChecks(
    properties.map(([name, node]) =>
      forObjects((value, evaluation, evaluated) => {
        if (!hasMember(value, name)) return true
        evaluated?.add(name)
        return checkMember(node, value[name], name, evaluation)
      }),
    ),
  )

const NO_NODES: readonly SchemaNode[] = []

/** Checks each property with the schemas for its name. */
const checkProperties = (
  nodesFor: (name: string, evaluation: Evaluation, evaluated: EvaluatedKeys) => readonly SchemaNode[],
) =>
  forObjects((value, evaluation, evaluated) =>
    testEach(namesOf(value, evaluation), evaluation, (name) => {
      const member = value[name]
      const nodes = member === undefined ? NO_NODES : nodesFor(name, evaluation, evaluated)
      if (nodes.length === 0) return true
      if (/[\ud800-\udfff]/u.test(name)) throw new CheckAborted('has a property name that is not well-formed Unicode')
      evaluated?.add(name)
      return testEach(nodes, evaluation, (node) => checkMember(node, member, name, evaluation))
    }),
  )

/**
 * Accepts all properties, because it is unknown which properties the patterns match. All properties count as evaluated.
 */
const skipPatternProperties = forObjects((value, evaluation, evaluated) => {
  for (const name of namesOf(value, evaluation)) {
    evaluation.skippedPatterns++
    evaluated?.add(name)
  }
  return true
})

/** Builds the check of `patternProperties`, and of `additionalProperties` for all names that match nothing else. */
const buildPatternProperties: CheckBuilder<unknown> = (_, keywords, { limits, assertPatterns }) => {
  const { patternProperties = [], additionalProperties } = keywords
  if (patternProperties.length > 0 && !assertPatterns) return skipPatternProperties
  const patterns = patternProperties.map(([pattern, node]) => [new RegExp(pattern, 'u'), node] as const)
  const declared = new Set(keywords.properties?.map(([name]) => name))
  const additional = additionalProperties ? [additionalProperties] : NO_NODES
  return checkProperties((name, evaluation) => {
    let nodes = NO_NODES
    if (patterns.length > 0) {
      spendSteps(evaluation, patterns.length * (1 + (name.length >> 4)))
      if (name.length > limits.maxPatternInput) throw new RangeError('a property name is too long')
      nodes = patterns.filter(([pattern]) => pattern.test(name)).map(([, node]) => node)
    }
    return nodes.length > 0 || declared.has(name) ? nodes : additional
  })
}

export const objectKeywords: KeywordGroup = {
  required: { holds: nameListRule, build: (names: readonly string[]) => requireNames(names) },
  minProperties: { holds: sizeRule, build: limitSize('least', isObject, countNames, 'property', 'properties') },
  maxProperties: { holds: sizeRule, build: limitSize('most', isObject, countNames, 'property', 'properties') },
  propertyNames: { holds: 'schema', build: buildPropertyNames },
  dependentRequired: { holds: 'map', build: buildDependencies, dialect: '2020-12' },
  dependentSchemas: { holds: 'map', build: buildDependencies, dialect: '2020-12' },
  dependencies: { holds: 'map', build: buildDependencies },
  properties: { holds: 'map', build: buildProperties },
  patternProperties: { holds: 'map', build: buildPatternProperties },
  additionalProperties: {
    holds: 'schema',
    build: (node, keywords, options) =>
      keywords.patternProperties ? undefined : buildPatternProperties(node, keywords, options),
  },
}

/** Wraps a check and marks its findings as consequences of other findings. */
export const markSecondary =
  (check: Check): Check =>
  (value, evaluation, evaluated) => {
    const { secondary } = evaluation
    evaluation.secondary = true
    const isValid = check(value, evaluation, evaluated)
    evaluation.secondary = secondary
    return isValid
  }

export const unevaluatedProperties: KeywordDefinition = {
  holds: 'schema',
  build: (node: SchemaNode) =>
    markSecondary(checkProperties((name, _, evaluated) => (evaluated?.has(name) ? NO_NODES : [node]))),
  dialect: '2020-12',
}
