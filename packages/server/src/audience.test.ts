import type { Change, Handler } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { createAudience, type Listener, resume } from './changes.ts'
import { createChangeFeed } from './changes.ts'

const settled = () => new Promise((resolve) => setTimeout(resolve, 0))
const tools: Change = { kind: 'tools' }
const updated = (uri: string): Change => ({ kind: 'resource', uri })

/** A handler that counts who is subscribed to it. */
function source() {
  const feed = createChangeFeed()
  const counted = { subscribed: 0, total: 0, handler: {} as Handler, publish: feed.publish }
  counted.handler = {
    changes(listener) {
      counted.subscribed += 1
      counted.total += 1
      const stop = feed.subscribe(listener)
      return () => {
        counted.subscribed -= 1
        stop()
      }
    },
  }
  return counted
}

function listener(room?: () => Promise<void> | undefined) {
  const heard: string[] = []
  const one: Listener & { heard: string[] } = {
    heard,
    isBusy: false,
    waiting: undefined,
    wants: (change) => change.kind !== 'prompts',
    tell(change) {
      heard.push(change.kind === 'resource' ? change.uri : change.kind)
      return room?.()
    },
  }
  return one
}

function audienceOf(...parts: Handler[]) {
  const errors: unknown[] = []
  return { errors, parts, audience: createAudience(parts, (error) => errors.push(error)) }
}

describe('an audience', () => {
  it('is told all that it wants, by one subscription to the handler that ends with the last of it', async () => {
    const from = source()
    const { audience } = audienceOf(from.handler)
    const all = Array.from({ length: 5 }, () => listener())
    for (const each of all) audience.join(each)
    expect(from.subscribed).toBe(1)
    for (const change of [tools, { kind: 'prompts' } as const, updated('a:1')]) from.publish(change)
    await settled()
    for (const { heard } of all) expect(heard).toEqual(['tools', 'a:1'])
    for (const each of all) audience.leave(each)
    for (const each of all) audience.leave(each)
    expect(from.subscribed).toBe(0)
    from.publish(tools)
    await settled()
    expect(all[0]?.heard).toHaveLength(2)
    audience.join(listener())
    expect(from.subscribed).toBe(1)
  })

  it('is told once of what changes often within a task', async () => {
    const from = source()
    const { audience } = audienceOf(from.handler)
    const one = listener()
    audience.join(one)
    for (let n = 0; n < 100; n++) from.publish(updated('a:1'))
    await settled()
    expect(one.heard).toEqual(['a:1'])
    from.publish(updated('a:1'))
    await settled()
    expect(one.heard).toEqual(['a:1', 'a:1'])
  })

  it('waits for who has no room, who is then told of each thing once, and keeps nobody else waiting', async () => {
    const from = source()
    const { audience } = audienceOf(from.handler)
    let makeRoom = () => {}
    const slow = listener(() => new Promise<void>((resolve) => (makeRoom = resolve)))
    const fast = listener()
    audience.join(slow)
    audience.join(fast)
    for (let n = 0; n < 10; n++) {
      from.publish(tools)
      from.publish(updated('a:1'))
      await settled()
    }
    expect(fast.heard).toHaveLength(20)
    expect(slow.heard).toEqual(['tools'])
    expect(slow.waiting?.size).toBe(2)
    for (let n = 0; n < 3; n++) {
      makeRoom()
      await settled()
    }
    expect(slow.heard).toEqual(['tools', 'a:1', 'tools'])
    expect(slow.waiting).toBeUndefined()
  })

  it('is not told of what it does not want any more when there is room again', async () => {
    const from = source()
    const { audience } = audienceOf(from.handler)
    const one = listener()
    one.isBusy = true
    audience.join(one)
    from.publish(tools)
    await settled()
    one.wants = () => false
    resume(one)
    expect([one.heard, one.waiting]).toEqual([[], undefined])
  })

  it('hears what has come to the others, which are not listened to anew, and passes on at once what it hears', async () => {
    const before = source()
    const after = source()
    const { audience, parts } = audienceOf(before.handler)
    const one = listener()
    const passed: Change[] = []
    const stop = audience.onChange((change) => void passed.push(change))
    audience.join(one)
    parts.push({ ...after.handler, callTool: () => ({ content: [] }) })
    audience.grow(parts[1] as Handler)
    expect([before, after].map(({ total, subscribed }) => [total, subscribed])).toEqual([
      [1, 1],
      [1, 1],
    ])
    await settled()
    expect([one.heard, passed]).toEqual([['tools'], [tools]])
    after.publish(updated('a:1'))
    before.publish(updated('b:1'))
    expect(passed).toHaveLength(3)
    stop()
    await settled()
    expect(one.heard).toEqual(['tools', 'a:1', 'b:1'])
    audience.leave(one)
    stop()
    audience.grow({})
    expect([before.subscribed, after.subscribed]).toEqual([0, 0])
    audience.join(one)
    expect([before.subscribed, after.subscribed]).toEqual([1, 1])
  })

  it('has nobody join where the only part throws, and survives what it throws at the end, and listeners', async () => {
    const { audience, errors } = audienceOf({
      changes() {
        throw new Error('deaf')
      },
    })
    expect(() => audience.join(listener())).toThrow('deaf')
    const from = source()
    const stuck = {
      changes(hear: (change: Change) => void) {
        from.handler.changes?.(hear)
        return () => {
          throw new Error('stuck')
        }
      },
    }
    const other = audienceOf(stuck, from.handler)
    const broken = listener(() => {
      throw new Error('broken')
    })
    const fine = listener()
    other.audience.join(broken)
    other.audience.join(fine)
    from.publish(tools)
    await settled()
    expect(fine.heard).toEqual(['tools'])
    other.audience.leave(broken)
    other.audience.leave(fine)
    expect(from.subscribed).toBe(1)
    expect(other.errors).toEqual([new Error('broken'), new Error('stuck')])
    expect(errors).toEqual([])
  })
})
