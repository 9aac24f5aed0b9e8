/** Matchers for results and tests of servers, for `expect.extend` of Vitest, Jest and Bun, and for other test runners. */

import type { CallToolResult } from '@mcpx/protocol'
import { firstDifference, show } from '../check.ts'
import type { AskedQuestion } from './answers.ts'
import type { Report } from './test-server.ts'

/** The verdict of a matcher, as test runners expect it. */
export interface MatcherResult {
  /** Whether the assertion is true. */
  readonly pass: boolean
  /** Describes why the assertion failed, also for `.not`. */
  message(): string
}

type ToolResult = Pick<CallToolResult, 'content' | 'isError' | 'structuredContent'>

/** Returns whether a string contains a string or matches a regular expression. */
function fits(text: string, expected: string | RegExp): boolean {
  return typeof expected === 'string' ? text.includes(expected) : expected.test(text)
}

function verdict(pass: boolean, expected: string, got: string): MatcherResult {
  return { pass, message: () => (pass ? `expected not ${expected}, got ${got}` : `expected ${expected}, got ${got}`) }
}

function textOf({ content }: ToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)).join('\n')
}

/** The matchers. Pass them to `expect.extend`. For test runners without it, use `verify`. */
export const matchers = {
  /** Passes if the structured content of a tool result has these members. Other members are allowed. */
  toHaveStructuredContent(result: ToolResult, expected: unknown): MatcherResult {
    const { structuredContent, isError } = result
    if (isError === true)
      return verdict(false, `structuredContent ${show(expected)}`, `the error ${show(textOf(result))}`)
    const difference = firstDifference('structuredContent', structuredContent, expected, true)
    return {
      pass: difference === undefined,
      message: () => difference ?? `structuredContent: expected not ${show(expected)}`,
    }
  },

  /** Passes if the text of a tool result contains a string or matches a regular expression, and the tool did not fail. */
  toHaveText(result: ToolResult, expected: string | RegExp): MatcherResult {
    const text = textOf(result)
    const got = `${result.isError === true ? 'the error ' : ''}${show(text)}`
    return verdict(result.isError !== true && fits(text, expected), `the text ${String(expected)}`, got)
  },

  /** Passes if a tool failed with a text that contains a string or matches a regular expression. */
  toHaveFailed(result: ToolResult, expected: string | RegExp = ''): MatcherResult {
    const text = textOf(result)
    const what = expected === '' ? 'a failed tool' : `a failed tool with the text ${String(expected)}`
    return verdict(
      result.isError === true && fits(text, expected),
      what,
      `${result.isError === true ? 'the error ' : ''}${show(text)}`,
    )
  },

  /** Passes if the server has asked a question that received this scripted answer, or whose message matches. */
  toHaveAsked({ asked }: { readonly asked: readonly AskedQuestion[] }, expected: string | RegExp): MatcherResult {
    const isAsked = asked.some(({ name, message }) => name === expected || fits(message, expected))
    const got = asked.length === 0 ? 'no questions' : show(asked.map(({ message }) => message))
    return verdict(isAsked, `the question ${String(expected)}`, got)
  },

  /** Passes if the server has reported progress or a log message that contains a string or matches a regular expression. */
  toHaveReported({ reports }: { readonly reports: readonly Report[] }, expected: string | RegExp): MatcherResult {
    const texts = reports.flatMap(({ method, params }) => {
      if (method === 'notifications/progress') return [String(params.message ?? params.progress)]
      if (method !== 'notifications/message') return []
      return [typeof params.data === 'string' ? params.data : JSON.stringify(params.data)]
    })
    const got = texts.length === 0 ? 'no progress and no log messages' : show(texts)
    return verdict(
      texts.some((text) => fits(text, expected)),
      `the report ${String(expected)}`,
      got,
    )
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

/**
 * Returns the matchers as assertions about a value, for test runners without `expect.extend`, such as `node:test`.
 *
 * ```ts
 * verify(await client.callTool('add', { a: 1, b: 2 })).toHaveStructuredContent({ sum: 3 })
 * ```
 *
 * Each assertion throws an `Error` that says what was expected and received.
 */
export function verify(value: unknown): Assertions {
  const assertions = Object.entries(matchers).map(([name, matcher]) => {
    const assertion = (...expected: unknown[]) => {
      const { pass, message } = (matcher as (...args: unknown[]) => MatcherResult)(value, ...expected)
      if (!pass) throw new Error(`${name}: ${message()}`)
    }
    return [name, assertion]
  })
  return Object.fromEntries(assertions) as Assertions
}
