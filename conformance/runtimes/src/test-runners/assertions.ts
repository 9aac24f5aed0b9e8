/** The assertions that each test runner makes with its own API. The assertions of `failing` must fail. */
import type { Assertions, ServerTest } from '@mcpx/testing/server'
import type { server } from './travel.ts'

/** `expect` with the matchers, or `verify`. */
export type Expect = (value: unknown) => Assertions & { readonly not: Assertions }

export async function checkPassing(expect: Expect, run: ServerTest<typeof server>): Promise<void> {
  const sum = await run.client.callTool('add', { a: 1, b: 2 })
  expect(sum).toHaveStructuredContent({ sum: 3 })
  expect(sum).not.toHaveStructuredContent({ sum: 4 })
  expect(run).not.toHaveAsked('Which row?')
  const booked = await run.client.callTool('book', { to: 'Oslo' })
  expect(booked).toHaveText('Row 7 to Oslo')
  expect(booked).not.toHaveFailed()
  expect(run).toHaveAsked('Which row?')
  expect(run).toHaveAsked('seat')
  expect(run).toHaveReported(/looking/)
  expect(run).not.toHaveReported('paying')
}

export const failing: Readonly<Record<string, (expect: Expect, run: ServerTest<typeof server>) => Promise<void>>> = {
  'fails: structured content': async (expect, { client }) =>
    expect(await client.callTool('add', { a: 1, b: 2 })).toHaveStructuredContent({ sum: 4 }),
  'fails: not structured content': async (expect, { client }) =>
    expect(await client.callTool('add', { a: 1, b: 2 })).not.toHaveStructuredContent({ sum: 3 }),
  'fails: asked': async (expect, run) => expect(run).toHaveAsked('Which row?'),
  'fails: not reported': async (expect, run) => {
    await run.client.callTool('book', { to: 'Oslo' }).catch(() => {})
    expect(run).not.toHaveReported('looking for seats')
  },
}

/** The messages of the failing assertions. */
export const MESSAGES: readonly string[] = [
  'structuredContent.sum: expected 4, got 3',
  'structuredContent: expected not {"sum":3}, got {"sum":3,"unit":"m"}',
  'expected the question Which row?, got no questions',
  'expected not the report looking for seats, got ["looking for seats"]',
]
