/** Matchers for results and tests of servers, for `expect.extend` of Vitest, Jest and Bun, and for other test runners. */

import { type CallToolResult, kindOf, quoted } from '@mcpx/protocol'
import { findDifferences, listDifferences, show } from '../check.ts'
import type { AskedQuestion } from './answers.ts'
import type { Report } from './test-server.ts'
import type { WatchedCall } from './watch.ts'

/** The result of a matcher, in the format of test runners. */
export interface MatcherResult {
  /** Whether the assertion is true. */
  readonly pass: boolean
  /** Describes why the assertion failed. This also works with `.not`. */
  message(): string
  /** The received value, for test runners that show a difference. */
  readonly actual?: unknown
  /** The expected value, for test runners that show a difference. */
  readonly expected?: unknown
}

type ToolResult = Pick<CallToolResult, 'content' | 'isError' | 'structuredContent'>

/** Returns whether a string contains a string or matches a regular expression. */
function fits(matcher: keyof typeof matchers, text: string, expected: string | RegExp): boolean {
  if (typeof expected === 'string') return text.includes(expected)
  // Unlike `test`, `search` ignores the state of expressions with the flag `g`.
  if (expected instanceof RegExp) return text.search(expected) !== -1
  throw new TypeError(`${matcher}: expected a string or a regular expression, got ${kindOf(expected)}`)
}

function verdict(pass: boolean, expected: string, got: string): MatcherResult {
  return { pass, message: () => (pass ? `expected not ${expected}, got ${got}` : `expected ${expected}, got ${got}`) }
}

/** Refuses a value that is not the result of a tool, for example a promise that was not awaited. */
function checkResult(name: string, value: unknown): void {
  if (typeof value === 'object' && value !== null && Array.isArray((value as Partial<ToolResult>).content)) return
  const isPromise = value instanceof Promise
  const remedy = isPromise ? 'write await before callTool' : 'pass what client.callTool returns'
  throw new TypeError(`${name}: expected the result of a tool, got ${isPromise ? 'a promise' : show(value)}; ${remedy}`)
}

/** Refuses a value without the recorded messages of a test. */
function checkRecords(name: string, value: unknown, member: 'asked' | 'reports' | 'calls'): void {
  if (typeof value === 'object' && value !== null && Array.isArray((value as Record<string, unknown>)[member])) return
  const remedy = member === 'calls' ? 'what watchTools returns' : 'the argument of the test of testServer'
  throw new TypeError(`${name}: expected an object with ${quoted(member)}, got ${show(value)}; pass ${remedy}`)
}

function textOf({ content }: ToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)).join('\n')
}

/** The matchers. Pass them to `expect.extend`. For test runners without it, use `verify`. */
export const matchers = {
  /** Passes if the structured content of a tool result has these members. Other members are allowed. */
  toHaveStructuredContent(result: ToolResult, expected: unknown): MatcherResult {
    checkResult('toHaveStructuredContent', result)
    const { structuredContent, isError } = result
    if (isError === true) {
      return verdict(false, `structuredContent ${show(expected)}`, `the error ${show(textOf(result))}`)
    }
    const differences = findDifferences('structuredContent', structuredContent, expected, true)
    const pass = differences.length === 0
    return {
      pass,
      message: () =>
        pass
          ? `structuredContent: expected not ${show(expected)}, got ${show(structuredContent)}`
          : listDifferences(differences),
      actual: structuredContent,
      expected,
    }
  },

  /** Passes if the text of a tool result contains a string or matches a regular expression, and the tool did not fail. */
  toHaveText(result: ToolResult, expected: string | RegExp): MatcherResult {
    checkResult('toHaveText', result)
    const text = textOf(result)
    const got = `${result.isError === true ? 'the error ' : ''}${show(text)}`
    return verdict(result.isError !== true && fits('toHaveText', text, expected), `the text ${String(expected)}`, got)
  },

  /** Passes if a tool failed with a text that contains a string or matches a regular expression. */
  toHaveFailed(result: ToolResult, expected: string | RegExp = ''): MatcherResult {
    checkResult('toHaveFailed', result)
    const text = textOf(result)
    const what = expected === '' ? 'a failed tool' : `a failed tool with the text ${String(expected)}`
    return verdict(
      result.isError === true && fits('toHaveFailed', text, expected),
      what,
      `${result.isError === true ? 'the error ' : ''}${show(text)}`,
    )
  },

  /** Passes if the server has asked a question that received this scripted answer, or whose message matches. */
  toHaveAsked(test: { readonly asked: readonly AskedQuestion[] }, expected: string | RegExp): MatcherResult {
    checkRecords('toHaveAsked', test, 'asked')
    const { asked } = test
    const isAsked = asked.some(({ name, message }) => name === expected || fits('toHaveAsked', message, expected))
    const got = asked.length === 0 ? 'no questions' : show(asked.map(({ message }) => message))
    return verdict(isAsked, `the question ${String(expected)}`, got)
  },

  /** Passes if the server has reported progress or a log message that contains a string or matches a regular expression. */
  toHaveReported(test: { readonly reports: readonly Report[] }, expected: string | RegExp): MatcherResult {
    checkRecords('toHaveReported', test, 'reports')
    const texts = test.reports.flatMap(({ method, params }) => {
      if (method === 'notifications/progress') return [String(params.message ?? params.progress)]
      if (method !== 'notifications/message') return []
      return [typeof params.data === 'string' ? params.data : JSON.stringify(params.data)]
    })
    const got = texts.length === 0 ? 'no progress and no log messages' : show(texts)
    return verdict(
      texts.some((text) => fits('toHaveReported', text, expected)),
      `the report ${String(expected)}`,
      got,
    )
  },

  /** Passes if the tool was called, with these arguments. Other arguments are allowed. For the result of `watchTools`. */
  toHaveCalled(
    watched: { readonly calls: readonly WatchedCall[] },
    tool: string,
    expected: object = {},
  ): MatcherResult {
    checkRecords('toHaveCalled', watched, 'calls')
    const { calls } = watched
    const pass = calls.some(
      (call) => call.tool === tool && findDifferences('arguments', call.arguments, expected, true).length === 0,
    )
    const got = calls.map((call) => `${call.tool} ${show(call.arguments)}`).join(', ')
    const wanted = Object.keys(expected).length === 0 ? '' : ` with ${show(expected)}`
    return verdict(pass, `a call of ${tool}${wanted}`, got === '' ? 'no calls' : got)
  },
}

type Matchers = typeof matchers
type MatcherArguments<Name extends keyof Matchers> = Matchers[Name] extends (
  value: never,
  ...rest: infer Rest
) => unknown
  ? Rest
  : never

/** The matchers as assertions. */
export type Assertions = { readonly [Name in keyof Matchers]: (...expected: MatcherArguments<Name>) => void }

/** The matchers as assertions, and their opposites as members of `not`. */
export interface Verification extends Assertions {
  /** Assertions that throw if the matcher passes. */
  readonly not: Assertions
}

/**
 * Returns the matchers as assertions about a value, for test runners without `expect.extend`, such as `node:test`.
 *
 * ```ts
 * verify(await client.callTool('add', { a: 1, b: 2 })).toHaveStructuredContent({ sum: 3 })
 * verify(run).not.toHaveAsked('Which row?')
 * ```
 *
 * Each assertion throws an `Error` with the expected and the received value. Test runners use its members `actual` and
 * `expected` to show the difference.
 */
export function verify(value: unknown): Verification {
  return { ...assertionsOf(value, true), not: assertionsOf(value, false) }
}

function assertionsOf(value: unknown, mustPass: boolean): Assertions {
  const assertions = Object.entries(matchers).map(([name, matcher]) => {
    const assertion = (...rest: unknown[]) => {
      const { pass, message, actual, expected } = (matcher as (...args: unknown[]) => MatcherResult)(value, ...rest)
      if (pass === mustPass) return
      const error = new Error(`${mustPass ? '' : 'not.'}${name}: ${message()}`)
      throw expected === undefined ? error : Object.assign(error, { actual, expected })
    }
    return [name, assertion]
  })
  return Object.fromEntries(assertions) as Assertions
}
