import { describe, expect, it, vi } from 'vitest'
import { RequestState, type StateBinding } from './request-state.ts'

const secrets = ['a secret of some length', 'another secret, older']
const binding: StateBinding = {
  subject: 'ann',
  method: 'tools/call',
  params: { name: 'book', arguments: { a: 1, b: { c: 2, d: 3 } } },
}

async function refused(text: string, other: Partial<StateBinding> = {}, state = new RequestState({ secrets })) {
  await expect(state.open(text, { ...binding, ...other })).rejects.toMatchObject({ name: 'RpcError', code: -32602 })
}

describe('a sealed state', () => {
  it('is valid for the same caller, method and parameters, on any server with the secret', async () => {
    const text = await new RequestState({ secrets }).seal({ answers: { a: 'é' } }, binding)
    expect(text).toMatch(/^[\w-]+$/)
    expect(text).not.toContain('answers')
    expect(await new RequestState({ secrets }).open(text, binding)).toMatchObject({ answers: { a: 'é' } })
  })

  it('is valid with reordered parameters and the members of a retry', async () => {
    const state = new RequestState({ secrets })
    const text = await state.seal({ n: 1 }, binding)
    const params = {
      arguments: { b: { d: 3, c: 2 }, a: 1 },
      requestState: text,
      inputResponses: {},
      _meta: { x: 1 },
      name: 'book',
    }
    expect(await state.open(text, { ...binding, params })).toMatchObject({ n: 1 })
  })

  it('does not expire if its time is Infinity', async () => {
    const state = new RequestState({ secrets, ttl: Number.POSITIVE_INFINITY })
    expect(await state.open(await state.seal({ n: 1 }, binding), binding)).toMatchObject({ n: 1 })
  })

  it('is invalid for other callers and calls [S-055]', async () => {
    const text = await new RequestState({ secrets }).seal({}, binding)
    await refused(text, { subject: 'bob' })
    await refused(text, { subject: undefined })
    await refused(text, { method: 'prompts/get' })
    await refused(text, { params: { name: 'book', arguments: { a: 2, b: { c: 2, d: 3 } } } })
    await refused(text, { params: { name: 'cancel', arguments: binding.params.arguments } })
  })

  it.each([
    [null, Number.POSITIVE_INFINITY],
    [null, Number.NaN],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
    ['1', 1],
    ['null', null],
    [[1, 2], ['1,2']],
    [['a","b'], ['a', 'b']],
    [{ a: 1 }, { a: { b: 1 } }],
    [{ 'a":1,"b': 2 }, { a: 1, b: 2 }],
    [[], {}],
    [[[]], []],
    [[null], []],
  ])('sealed for %j does not open for %j', async (some, other) => {
    const state = new RequestState({ secrets })
    const bound = (limit: unknown) => ({ ...binding, params: { name: 'pay', arguments: { limit } } })
    const text = await state.seal({}, bound(some))
    expect(await state.open(text, bound(structuredClone(some)))).toBeDefined()
    await refused(text, bound(other), state)
    await refused(await state.seal({}, bound(other)), bound(some), state)
  })

  it('is invalid if a single character was altered, added or removed [S-054]', async () => {
    const text = await new RequestState({ secrets }).seal({ n: 1 }, binding)
    for (let at = 0; at < text.length; at += 7) {
      const other = text[at] === 'A' ? 'B' : 'A'
      await refused(text.slice(0, at) + other + text.slice(at + 1))
    }
    for (const wrong of [`${text}-TAMPERED`, text.slice(1), text.slice(0, -4), '', '=', 'ü', 'A'.repeat(100), 'A'])
      await refused(wrong)
    await refused('A'.repeat(1024 * 1024 + 1))
  })

  it('is valid with an older secret until that is removed', async () => {
    const text = await new RequestState({ secrets: [secrets[1] as string] }).seal({ n: 1 }, binding)
    expect(await new RequestState({ secrets }).open(text, binding)).toMatchObject({ n: 1 })
    await refused(text, {}, new RequestState({ secrets: [secrets[0] as string] }))
  })

  it('expires [S-055]', async () => {
    const state = new RequestState({ secrets, ttl: -1 })
    await refused(await state.seal({}, binding), {}, state)
  })

  it('is different each time', async () => {
    const state = new RequestState()
    expect(await state.seal({}, binding)).not.toBe(await state.seal({}, binding))
  })

  it('creates its own secret when the first call is sealed, because workerd has no random values before a request', async () => {
    const draw = vi.spyOn(crypto, 'getRandomValues')
    const state = new RequestState()
    expect(draw).not.toHaveBeenCalled()
    expect(await state.open(await state.seal({ n: 1 }, binding), binding)).toMatchObject({ n: 1 })
    draw.mockRestore()
  })

  it('of another process is reported once if there are no shared secrets', async () => {
    const warned: string[] = []
    const onWarning = ({ message }: Error) => void warned.push(message)
    const text = await new RequestState().seal({}, binding)
    const state = new RequestState({ onWarning })
    await refused(text, {}, state)
    await refused(text, {}, state)
    await refused(text, {}, new RequestState({ secrets, onWarning }))
    await refused(await state.seal({}, binding), { subject: 'bob' }, state)
    expect(warned).toEqual([expect.stringContaining('pass the same `secrets` to createServer')])
  })

  it('needs a secret of sufficient length', () => {
    for (const bad of [[], ['short'], ['a secret of some length', '']])
      expect(() => new RequestState({ secrets: bad })).toThrow(RangeError)
  })
})
