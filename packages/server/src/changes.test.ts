import type { Change, Handler } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { ChangeFeed, ChangeHub, type ChangeReceiver } from './changes.ts'
import { createServer, memoryStore } from './index.ts'

const settled = () => new Promise((resolve) => setTimeout(resolve, 0))
const tools: Change = { kind: 'tools' }
const updated = (uri: string): Change => ({ kind: 'resource', uri })

/** A handler that counts who is subscribed to it. */
function source() {
  const feed = new ChangeFeed()
  const counted = { subscribed: 0, total: 0, handler: {} as Handler, publish: (change: Change) => feed.publish(change) }
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
  const one: ChangeReceiver & { heard: string[] } = {
    heard,
    isBusy: false,
    waiting: undefined,
    uris: [],
    wants: (change) => change.kind !== 'prompts',
    send(change) {
      heard.push(change.kind === 'resource' ? change.uri : change.kind)
      return room?.()
    },
  }
  return one
}

function hubOf(...parts: Handler[]) {
  const errors: unknown[] = []
  return { errors, parts, hub: new ChangeHub(parts, (error) => void errors.push(error)) }
}

describe('the subscribers of changes', () => {
  it('receives its changes through one subscription to the handler, which ends with the last subscriber', async () => {
    const from = source()
    const { hub } = hubOf(from.handler)
    const all = Array.from({ length: 5 }, () => listener())
    for (const each of all) hub.add(each)
    expect(from.subscribed).toBe(1)
    for (const change of [tools, { kind: 'prompts' } as const, updated('a:1')]) from.publish(change)
    await settled()
    for (const { heard } of all) expect(heard).toEqual(['tools', 'a:1'])
    for (const each of all) hub.remove(each)
    for (const each of all) hub.remove(each)
    expect(from.subscribed).toBe(0)
    from.publish(tools)
    await settled()
    expect(all[0]?.heard).toHaveLength(2)
    hub.add(listener())
    expect(from.subscribed).toBe(1)
  })

  it('receives repeated changes within a task once', async () => {
    const from = source()
    const { hub } = hubOf(from.handler)
    const one = listener()
    hub.add(one)
    for (let n = 0; n < 100; n++) from.publish(updated('a:1'))
    await settled()
    expect(one.heard).toEqual(['a:1'])
    from.publish(updated('a:1'))
    await settled()
    expect(one.heard).toEqual(['a:1', 'a:1'])
  })

  it('waits for a full subscriber, which then receives each change once, without delaying others', async () => {
    const from = source()
    const { hub } = hubOf(from.handler)
    let makeRoom = () => {}
    const slow = listener(() => new Promise<void>((resolve) => (makeRoom = resolve)))
    const fast = listener()
    hub.add(slow)
    hub.add(fast)
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

  it('does not receive changes that its filter no longer contains', async () => {
    const from = source()
    const { hub } = hubOf(from.handler)
    const one = listener()
    one.isBusy = true
    hub.add(one)
    from.publish(tools)
    await settled()
    one.wants = () => false
    hub.resume(one)
    expect([one.heard, one.waiting]).toEqual([[], undefined])
  })

  it('shares one subscription to the handler and delivers changes at once', async () => {
    const before = source()
    const after = source()
    const { hub, parts } = hubOf(before.handler)
    const one = listener()
    const passed: Change[] = []
    const stop = hub.onChange((change) => void passed.push(change))
    hub.add(one)
    parts.push({ ...after.handler, callTool: () => ({ content: [] }) })
    hub.onPartAdded(parts[1] as Handler)
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
    hub.remove(one)
    stop()
    hub.onPartAdded({})
    expect([before.subscribed, after.subscribed]).toEqual([0, 0])
    hub.add(one)
    expect([before.subscribed, after.subscribed]).toEqual([1, 1])
  })

  it('rejects subscribers if the only part throws, and ignores errors at the end and of listeners', async () => {
    const { hub, errors } = hubOf({
      changes() {
        throw new Error('deaf')
      },
    })
    expect(() => hub.add(listener())).toThrow('deaf')
    const from = source()
    const stuck = {
      changes(listener: (change: Change) => void) {
        from.handler.changes?.(listener)
        return () => {
          throw new Error('stuck')
        }
      },
    }
    const other = hubOf(stuck, from.handler)
    const broken = listener(() => {
      throw new Error('broken')
    })
    const fine = listener()
    other.hub.add(broken)
    other.hub.add(fine)
    from.publish(tools)
    await settled()
    expect(fine.heard).toEqual(['tools'])
    other.hub.remove(broken)
    other.hub.remove(fine)
    expect(from.subscribed).toBe(1)
    expect(other.errors).toEqual([new Error('broken'), new Error('stuck')])
    expect(errors).toEqual([])
  })
})

it('a closed server with a store ends its subscription to the handler', async () => {
  const from = source()
  const listing = { listTools: () => ({ tools: [] }), callTool: () => ({ content: [] }) }
  const store = memoryStore()
  const server = createServer({ name: 's', version: '1' }, { store, ...listing, ...from.handler })
  expect(from.subscribed).toBe(1)
  const stop = server.handler.changes?.(() => {})
  server.close()
  expect(from.subscribed).toBe(1)
  stop?.()
  expect(from.subscribed).toBe(0)
})

describe('the listeners of a server', () => {
  it('are all called, also if one throws', async () => {
    const errors: unknown[] = []
    const server = createServer({ name: 's', version: '1' }, { onError: (error) => void errors.push(error) })
    const heard: Change[] = []
    server.handler.changes?.(() => {
      throw new Error('deaf')
    })
    const stop = server.tool('a', {}, () => '').handler.changes?.((change) => heard.push(change))
    await settled()
    errors.length = 0
    heard.length = 0
    server.removeTool('a')
    await settled()
    stop?.()
    server.resourceUpdated('a:b')
    expect(heard).toEqual([{ kind: 'tools' }])
    expect(errors).toEqual([new Error('deaf'), new Error('deaf')])
  })

  it('count as two if one function is added twice', () => {
    const server = createServer({ name: 's', version: '1' })
    let calls = 0
    const listener = () => {
      calls += 1
    }
    const stop = server.handler.changes?.(listener)
    server.handler.changes?.(listener)
    stop?.()
    stop?.()
    server.resourceUpdated('a:b')
    expect(calls).toBe(1)
  })
})

describe('a change feed', () => {
  it('calls every listener before publish returns, until it is unsubscribed', () => {
    const feed = new ChangeFeed()
    const heard: Change[] = []
    const stop = feed.subscribe((change) => heard.push(change))
    feed.subscribe((change) => heard.push(change))
    feed.publish({ kind: 'tools' })
    expect(heard).toEqual([{ kind: 'tools' }, { kind: 'tools' }])
    stop()
    feed.publish({ kind: 'resource', uri: 'a:b' })
    expect(heard.slice(2)).toEqual([{ kind: 'resource', uri: 'a:b' }])
  })

  it('does not call a listener that another one has just unsubscribed', () => {
    const feed = new ChangeFeed()
    let calls = 0
    feed.subscribe(() => stop())
    const stop = feed.subscribe(() => {
      calls += 1
    })
    feed.publish({ kind: 'tools' })
    expect(calls).toBe(0)
  })
})
