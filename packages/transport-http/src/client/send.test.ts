import { describe, expect, it } from 'vitest'
import { responseLostError } from './send.ts'

describe('the error of a lost response', () => {
  it('contains the cause that the runtime reports', () => {
    const closed = new Error('other side closed')
    const { message } = responseLostError('tools/call', new TypeError('fetch failed', { cause: closed }))
    expect(message).toBe('The response to tools/call was lost: fetch failed: other side closed')
  })

  it('contains one of several causes, or none', () => {
    const both = new AggregateError([new Error('one of them'), new Error('the other')], '')
    expect(responseLostError('ping', new TypeError('fetch failed', { cause: both })).message).toBe(
      'The response to ping was lost: fetch failed: one of them',
    )
    expect(responseLostError('ping').message).toBe('The response to ping was lost')
  })
})
