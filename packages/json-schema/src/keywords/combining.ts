/** The keywords that apply other schemas to the same value: references, conditions, `allOf`, `anyOf`, `oneOf`, `not`. */

import {
  addEvaluatedKeys,
  type Check,
  checkSeparately,
  combineChecks,
  type EvaluatedKeys,
  type Evaluation,
  type Expectation,
  type Finding,
  failWith,
} from '../evaluate.ts'
import { jsonTypeOf } from '../json.ts'
import { type CheckBuilder, type KeywordGroup, type SchemaNode, stringRule } from '../keyword.ts'
import { joinFirstWithOr } from '../messages.ts'

/** Applies a schema to the same value. Reads `check` during the check, because it is set after the document was read. */
export const applyNode =
  (node: SchemaNode): Check =>
  (value, evaluation, evaluated) =>
    node.check(value, evaluation, evaluated)

const buildAllOf: CheckBuilder<readonly SchemaNode[]> = (nodes) => combineChecks(nodes.map(applyNode))

/** Checks one branch. Its evaluated keys count only if the value is valid. */
function checkBranch(
  node: SchemaNode,
  value: unknown,
  evaluation: Evaluation,
  evaluated: EvaluatedKeys,
  findings?: Finding[],
): boolean {
  const branchKeys: EvaluatedKeys = evaluated && new Set()
  const isValid = checkSeparately(node, value, evaluation, branchKeys, findings)
  if (isValid) addEvaluatedKeys(evaluated, branchKeys)
  return isValid
}

const buildAlternatives =
  (mustMatchOne: boolean): CheckBuilder<readonly SchemaNode[]> =>
  (nodes) =>
  (value, evaluation, evaluated) => {
    const failedBranches: Finding[][] = []
    let matches = 0
    let certainMatches = 0
    const skippedBefore = evaluation.skippedPatterns
    for (const node of nodes) {
      const findings: Finding[] | undefined = evaluation.findings && []
      const { skippedPatterns } = evaluation
      if (checkBranch(node, value, evaluation, evaluated, findings)) {
        matches++
        if (evaluation.skippedPatterns === skippedPatterns) certainMatches++
      } else if (findings) failedBranches.push(findings)
      if (certainMatches > 0 && !mustMatchOne && !evaluated) {
        // This branch makes the value valid, so the skipped patterns of other branches do not matter.
        evaluation.skippedPatterns = skippedBefore
        return true
      }
    }
    if (matches > 0 && (certainMatches < 2 || !mustMatchOne)) return true
    return failAlternatives(failedBranches, certainMatches, value, evaluation)
  }

const describeMatches = (matches: number, branches: number) =>
  matches > 0
    ? `fits ${matches} of the allowed forms, and must fit exactly 1`
    : `fits none of the ${branches} allowed forms`

const describeExpected = (words: readonly string[], value: unknown) =>
  `expected ${joinFirstWithOr(words)}, got ${jsonTypeOf(value)}`

/** Adds one finding about all branches, or the findings of the branch that the author of the value probably meant. */
function failAlternatives(
  branches: readonly Finding[][],
  matches: number,
  value: unknown,
  evaluation: Evaluation,
): false {
  const { findings, depth } = evaluation
  if (!findings) return false
  const expectations = branches.map((branch) => expectationOf(branch, depth))
  if (matches === 0 && expectations.every((expectation) => expectation !== undefined)) {
    const joined = joinExpectations(expectations)
    return failWith(evaluation, describeExpected, joined.words, value, joined)
  }
  const [likely, ...others] = branches.filter((branch) => !isForOtherKind(branch, depth))
  if (matches > 0 || !likely || others.length > 0) {
    return failWith(evaluation, describeMatches, matches, branches.length)
  }
  for (const finding of likely) findings.push(finding)
  return false
}

/** Returns the types or values that a branch expects, or undefined if the value has other problems. */
function expectationOf(branch: readonly Finding[], depth: number): Expectation | undefined {
  const expectations = branch.map((finding) => (finding.depth === depth ? finding.expectation : undefined))
  if (!expectations.every((expectation) => expectation !== undefined)) return undefined
  const values = expectations.filter(({ kind }) => kind === 'value')
  return joinExpectations(values.length > 0 ? values : expectations)
}

function joinExpectations(expectations: readonly Expectation[]): Expectation {
  return {
    kind: expectations.some(({ kind }) => kind === 'value') ? 'value' : 'type',
    words: [...new Set(expectations.flatMap(({ words }) => words))],
  }
}

/**
 * Returns whether a branch is for values of another type, or for objects with another value of a property such as
 * `kind`.
 */
function isForOtherKind(branch: readonly Finding[], depth: number): boolean {
  return branch.some((finding) => {
    if (!finding.expectation) return false
    return finding.depth <= (finding.expectation.kind === 'type' ? depth : depth + 1)
  })
}

const describeNot = () => 'has a form that is not allowed'

const buildNot: CheckBuilder<SchemaNode> = (node) => (value, evaluation) => {
  const { skippedPatterns } = evaluation
  const isCertain = checkSeparately(node, value, evaluation) && evaluation.skippedPatterns === skippedPatterns
  return !isCertain || failWith(evaluation, describeNot, 0, 0)
}

const buildIf: CheckBuilder<SchemaNode> = (node, keywords) => (value, evaluation, evaluated) => {
  const { skippedPatterns } = evaluation
  const matches = checkBranch(node, value, evaluation, evaluated)
  if (matches && evaluation.skippedPatterns > skippedPatterns) {
    const branches = [keywords.then, keywords.else]
    const results = branches.map((branch) => !branch || checkBranch(branch, value, evaluation, evaluated))
    return results.includes(true) || failWith(evaluation, describeMatches, 0, branches.length)
  }
  const next = matches ? keywords.then : keywords.else
  return next?.check(value, evaluation, evaluated) ?? true
}

export const referenceKeywords: KeywordGroup = {
  $ref: { holds: stringRule, build: buildAllOf },
  $dynamicRef: { holds: stringRule },
  $recursiveRef: { holds: stringRule },
}

export const combiningKeywords: KeywordGroup = {
  not: { holds: 'schema', build: buildNot },
  anyOf: { holds: 'list', build: buildAlternatives(false) },
  allOf: { holds: 'list', build: buildAllOf },
  oneOf: { holds: 'list', build: buildAlternatives(true) },
  if: { holds: 'schema', build: buildIf },
  // biome-ignore lint/suspicious/noThenProperty: the name of the keyword
  then: { holds: 'schema' },
  else: { holds: 'schema' },
}
