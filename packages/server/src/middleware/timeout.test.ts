import { type Context, RpcError } from '@mcpx/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Endpoint, type Middleware, wrap } from '../middleware.ts'
import { TIMED_OUT, timeout } from './timeout.ts'

const caller = new AbortController()
const ctxOf = (more: Partial<Context> = {}) => ({ signal: caller.signal, meta: {}, ...more }) as Context
const never: Endpoint = () => new Promise<object>(() => {})

function start(middleware: Middleware, endpoint: Endpoint, method = 'tools/call', ctx = ctxOf()): Promise<unknown> {
  return (async () => wrap([middleware], endpoint)({ method, params: {} }, ctx))().catch((error: unknown) => error)
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('a timeout', () => {
  it('returns an error result for a tool that never ends, with the limit [S-095]', async () => {
    const result = start(timeout(50), never)
    await vi.advanceTimersByTimeAsync(49)
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await result).toEqual({
      content: [{ type: 'text', text: 'The tool did not end within 50 ms and was stopped.' }],
      isError: true,
    })
  })

  it('is an error for other requests, with an application-defined code [S-008]', async () => {
    const error = start(timeout(50), never, 'resources/read')
    await vi.advanceTimersByTimeAsync(50)
    expect(await error).toBeInstanceOf(RpcError)
    expect(await error).toMatchObject({
      code: 504,
      message: 'resources/read did not end within 50 ms and was stopped.',
      data: { timeoutMs: 50 },
    })
    expect(TIMED_OUT < -32_768 || TIMED_OUT > -32_000).toBe(true)
  })

  it('aborts the signal of the context', async () => {
    let reason: unknown
    const endpoint: Endpoint = (_, ctx) =>
      new Promise((_, reject) => {
        ctx.signal.addEventListener('abort', () => {
          reason = ctx.signal.reason
          reject(reason)
        })
      })
    const result = start(timeout(50), endpoint)
    await vi.advanceTimersByTimeAsync(50)
    expect(await result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('50 ms') }] })
    expect(reason).toMatchObject({ name: 'TimeoutError' })
  })

  it('does not change the caller’s signal', async () => {
    const leaving = new AbortController()
    let aborted: boolean | undefined
    const endpoint: Endpoint = (_, ctx) =>
      new Promise((resolve) => {
        ctx.signal.addEventListener('abort', () => {
          aborted = ctx.signal.aborted
          resolve({ gone: true })
        })
      })
    const result = start(timeout(50), endpoint, 'tools/call', ctxOf({ signal: leaving.signal }))
    await vi.advanceTimersByTimeAsync(1)
    leaving.abort()
    expect(await result).toEqual({ gone: true })
    expect(aborted).toBe(true)
  })

  it.each([
    ['a result', () => ({ ok: true }), { ok: true }],
    ['a later result', async () => ({ ok: true }), { ok: true }],
    ['a failure', () => Promise.reject(new Error('no')), { message: 'no' }],
    [
      'a synchronous failure',
      () => {
        throw new Error('no')
      },
      { message: 'no' },
    ],
  ] as [string, Endpoint, object][])('leaves %s in time as it is', async (_, endpoint, expected) => {
    expect(await start(timeout(50), endpoint)).toMatchObject(expected)
  })

  it('ignores a late failure of the handler', async () => {
    let fail: (error: Error) => void = () => {}
    const result = start(timeout(50), () => new Promise((_, reject) => (fail = reject)))
    await vi.advanceTimersByTimeAsync(50)
    expect(await result).toMatchObject({ isError: true })
    fail(new Error('late'))
    vi.useRealTimers()
    await new Promise((resolve) => setTimeout(resolve, 5))
    vi.useFakeTimers()
  })

  it('may depend on the request', async () => {
    const middleware = timeout(({ method }) => (method === 'tools/call' ? 10 : undefined))
    expect(await start(middleware, (_, ctx) => ({ own: ctx.signal === caller.signal }), 'tools/list')).toEqual({
      own: true,
    })
    const result = start(middleware, never)
    await vi.advanceTimersByTimeAsync(10)
    expect(await result).toMatchObject({ isError: true })
  })

  it('may be absent, or longer than the maximum of timers', async () => {
    expect(await start(timeout(Number.POSITIVE_INFINITY), () => ({ ok: vi.getTimerCount() }))).toEqual({ ok: 0 })
    let end: (result: object) => void = () => {}
    const result = start(timeout(1e12), () => new Promise((resolve) => (end = resolve)))
    await vi.advanceTimersByTimeAsync(1_000)
    end({ ok: true })
    expect(await result).toEqual({ ok: true })
  })

  it.each([0, -1, Number.NaN])('of %d is rejected', async (ms) => {
    expect(() => timeout(ms)).toThrow(`timeout: expected more than 0 ms, got ${ms}`)
    expect(
      await start(
        timeout(() => ms),
        never,
      ),
    ).toBeInstanceOf(RangeError)
  })
})

describe('the clock of a timeout', () => {
  it('pauses during input requests', async () => {
    const open: ((value: never) => void)[] = []
    const elicit = () => new Promise<never>((resolve) => void open.push(resolve))
    const ctx = ctxOf({ elicit, sample: elicit } as never)
    const endpoint: Endpoint = async (_, given) => {
      const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
      await wait(30)
      await Promise.all([given.elicit('a', {} as never), wait(20).then(() => given.sample('b', {} as never))])
      return new Promise<object>(() => {})
    }
    const result = start(timeout(100), endpoint, 'tools/call', ctx)
    await vi.advanceTimersByTimeAsync(50)
    expect(open).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(5_000)
    open[0]?.(undefined as never)
    await vi.advanceTimersByTimeAsync(5_000)
    open[1]?.(undefined as never)
    await vi.advanceTimersByTimeAsync(69)
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(vi.getTimerCount()).toBe(0)
    expect(await result).toMatchObject({ isError: true })
  })

  it('does not restart for a finished call', async () => {
    let answer: (value: never) => void = () => {}
    const ctx = ctxOf({ elicit: () => new Promise((resolve) => (answer = resolve)) } as never)
    const endpoint: Endpoint = (_, given) => {
      given.elicit('a', {} as never).catch(() => {})
      return { ok: true }
    }
    expect(await start(timeout(100), endpoint, 'tools/call', ctx)).toEqual({ ok: true })
    answer(undefined as never)
    await vi.advanceTimersByTimeAsync(1)
  })

  it('rejects input requests of a timed-out handler', async () => {
    let asked = 0
    let failure: unknown
    const ctx = ctxOf({ elicit: () => Promise.resolve(void asked++) } as never)
    const endpoint: Endpoint = async (_, given) => {
      await new Promise((resolve) => setTimeout(resolve, 200))
      await given.elicit('a', {} as never).catch((error: unknown) => {
        failure = error
      })
      return {}
    }
    const result = start(timeout(100), endpoint, 'tools/call', ctx)
    await vi.advanceTimersByTimeAsync(200)
    await result
    expect(asked).toBe(0)
    expect(failure).toMatchObject({ name: 'TimeoutError' })
  })
})

describe('the context within a timeout', () => {
  it('is otherwise that of the call', async () => {
    const heard: unknown[] = []
    const record =
      (what: string) =>
      (...args: unknown[]) => {
        heard.push([what, ...args])
        return Promise.resolve(what)
      }
    const facts = {
      auth: { subject: 'a', scopes: [] },
      client: { info: undefined, capabilities: {} },
      meta: { m: 1 },
      inputResponses: {},
      requestState: 's',
      requestInfo: {},
      log: {},
    }
    const ctx = ctxOf({
      ...facts,
      progress: record('progress'),
      elicit: record('elicit'),
      openUrl: record('openUrl'),
      sample: record('sample'),
      roots: record('roots'),
      ask: record('ask'),
      step: record('step'),
    } as never)
    const run = () => 1
    const endpoint: Endpoint = async (_, given) => {
      await given.progress(1, 2, 'three')
      await given.elicit('e', { message: 'm' } as never)
      await given.openUrl('o', { message: 'm', url: 'u' })
      await given.sample('s', {} as never)
      await given.roots('r')
      await given.ask({})
      await given.step('t', run)
      const { auth, client, meta, inputResponses, requestState, requestInfo, log } = given
      return { auth, client, meta, inputResponses, requestState, requestInfo, log }
    }
    expect(await start(timeout(100), endpoint, 'tools/call', ctx)).toEqual(facts)
    expect(heard).toEqual([
      ['progress', 1, 2, 'three'],
      ['elicit', 'e', { message: 'm' }],
      ['openUrl', 'o', { message: 'm', url: 'u' }],
      ['sample', 's', {}],
      ['roots', 'r'],
      ['ask', {}],
      ['step', 't', run],
    ])
  })
})
