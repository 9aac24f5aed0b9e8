import type { Change } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { createChangeFeed } from './changes.ts'

describe('a change feed', () => {
  it('calls every listener before publish returns, until it is unsubscribed', () => {
    const feed = createChangeFeed()
    const heard: Change[] = []
    const stop = feed.subscribe((change) => heard.push(change))
    feed.subscribe((change) => heard.push(change))
    feed.publish({ kind: 'tools' })
    expect(heard).toEqual([{ kind: 'tools' }, { kind: 'tools' }])
    stop()
    feed.publish({ kind: 'resource', uri: 'a:b' })
    expect(heard.slice(2)).toEqual([{ kind: 'resource', uri: 'a:b' }])
  })

  it('lets no listener that throws keep others from hearing', () => {
    const errors: unknown[] = []
    const feed = createChangeFeed((error) => errors.push(error))
    const heard: Change[] = []
    feed.subscribe(() => {
      throw new Error('deaf')
    })
    feed.subscribe((change) => heard.push(change))
    feed.publish({ kind: 'prompts' })
    expect(heard).toEqual([{ kind: 'prompts' }])
    expect(errors).toEqual([new Error('deaf')])
  })

  it('does not call a listener that another one has just unsubscribed', () => {
    const feed = createChangeFeed()
    let calls = 0
    feed.subscribe(() => stop())
    const stop = feed.subscribe(() => {
      calls += 1
    })
    feed.publish({ kind: 'tools' })
    expect(calls).toBe(0)
  })

  it('counts a listener that subscribes twice as two', () => {
    const feed = createChangeFeed()
    let calls = 0
    const listener = () => {
      calls += 1
    }
    const stop = feed.subscribe(listener)
    feed.subscribe(listener)
    stop()
    stop()
    feed.publish({ kind: 'tools' })
    expect(calls).toBe(1)
  })
})
