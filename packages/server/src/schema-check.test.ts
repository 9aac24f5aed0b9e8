/** Refinements of zod run once, and one that fails is reported under the name of its tool. */
import { REVISIONS } from '@mcpx/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createServer } from './index.ts'
import { closeAll, connect } from './peers.fixture.ts'
import { createStandardCheck } from './schema-check.ts'

const unhandled: unknown[] = []
const record = (error: unknown) => void unhandled.push(error)
beforeEach(() => void process.on('unhandledRejection', record))
afterEach(async () => {
  await closeAll()
  process.off('unhandledRejection', record)
})

const later = () => new Promise((resolve) => setTimeout(resolve, 5))

const failures: Record<string, (count: () => void) => z.ZodType> = {
  'an asynchronous refinement that rejects': (count) =>
    z.object({
      id: z.string().refine(async () => {
        count()
        throw new Error('database down')
      }),
    }),
  'one that rejects later': (count) =>
    z.object({ id: z.string() }).refine(async () => {
      count()
      await later()
      throw new Error('database down')
    }),
  'a refinement that throws': (count) =>
    z.object({ id: z.string() }).refine(() => {
      count()
      throw new Error('database down')
    }),
  'a transform that rejects': (count) =>
    z.object({
      id: z.preprocess(async () => {
        count()
        throw new Error('database down')
      }, z.string()),
    }),
}

describe.each(REVISIONS)('in revision %s', (revision) => {
  it.each(Object.entries(failures))('%s runs once and fails the call alone', async (_, schemaOf) => {
    unhandled.length = 0
    let runs = 0
    const faults: unknown[] = []
    const onError = (error: Error, _ctx: unknown, _id: string, request?: string) => {
      faults.push([error.message, request])
    }
    const input = schemaOf(() => runs++)
    const server = createServer({ name: 's', version: '1' }, { onError: onError as never })
    const made = server.tool('save', { input }, () => 'saved').tool('other', {}, () => 'works')
    const peer = await connect(made, revision)
    expect(await peer.call('tools/call', { name: 'save', arguments: { id: 'x' } })).toMatchObject({ isError: true })
    expect(await peer.call('tools/call', { name: 'other' })).toMatchObject({ content: [{ text: 'works' }] })
    await later()
    expect({ runs, unhandled, faults }).toEqual({
      runs: 1,
      unhandled: [],
      faults: [['database down', 'tools/call "save"']],
    })
  })
})

it('an output with an asynchronous refinement that rejects fails the call alone', async () => {
  unhandled.length = 0
  const faults: string[] = []
  const output = z.object({ id: z.string() }).refine(() => Promise.reject(new Error('database down')))
  const server = createServer({ name: 's', version: '1' }, { onError: (error) => void faults.push(String(error)) })
  const peer = await connect(
    server.tool('load', { output }, () => ({ id: 'x' })),
    '2025-06-18',
  )
  expect(await peer.call('tools/call', { name: 'load' })).toMatchObject({ isError: true })
  await later()
  expect({ unhandled, faults }).toEqual({ unhandled: [], faults: ['Error: database down'] })
})

describe('the check of a schema', () => {
  it.each([
    ['without functions', z.object({ a: z.array(z.string().min(1)), b: z.union([z.literal(1), z.null()]).optional() })],
    ['with an own error message', z.object({ a: z.string({ error: () => 'no' }) })],
  ])('%s is synchronous', (_, schema) => {
    expect(createStandardCheck(schema)({ a: [''] })).not.toBeInstanceOf(Promise)
  })

  it('that leads back to itself ends', () => {
    const node = z.object({
      get children() {
        return z.array(node)
      },
    })
    expect(createStandardCheck(node)({ children: [{ children: [] }] })).toEqual({
      value: { children: [{ children: [] }] },
    })
  })

  it('converts, and names the places of issues', async () => {
    const schema = z.object({ a: z.string().transform(async (text) => text.length), b: z.number() })
    expect(await createStandardCheck(schema)({ a: 'xyz', b: 1 })).toEqual({ value: { a: 3, b: 1 } })
    expect(await createStandardCheck(schema)({ a: 'xyz', b: 'x' })).toMatchObject({ issues: [{ path: ['b'] }] })
  })
})
