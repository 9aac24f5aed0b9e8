import { describe, expect, it } from 'vitest'
import { problemOf } from '../validate.ts'
import { CreateTaskResult, DetailedTask, UpdateTaskRequestParams } from './tasks.ts'

const task = { taskId: 't', status: 'working', createdAt: 'a', lastUpdatedAt: 'b', ttlMs: null }

describe('the state of a task', () => {
  it.each([
    ['working', {}],
    ['cancelled', { statusMessage: 'as asked', pollIntervalMs: 500, ttlMs: 1 }],
    ['input_required', { inputRequests: { a: { method: 'roots/list' } } }],
    ['completed', { result: { content: [], any: 1 } }],
    ['failed', { error: { code: -32_603, message: 'no', data: null } }],
  ])('is valid as %s', (status, rest) => {
    expect(problemOf(DetailedTask, { resultType: 'complete', ...task, status, ...rest })).toBeUndefined()
  })

  it.each([
    ['completed', {}, 'result: expected object, got nothing'],
    ['failed', { error: { message: 'no' } }, 'error.code: expected integer, got nothing'],
    ['input_required', {}, 'inputRequests: expected object, got nothing'],
    ['working', { ttlMs: 0 }, 'ttlMs: expected a positive integer or null, got number'],
    ['working', { ttlMs: -1 }, 'ttlMs: expected a positive integer or null, got number'],
    ['working', { ttlMs: undefined }, 'ttlMs: expected a positive integer or null, got nothing'],
    ['working', { taskId: 'x'.repeat(1_025) }, 'taskId: expected at most 1024 characters, got 1025'],
    ['done', {}, /^status: expected one of "working", "input_required"/],
  ])('is refused as %s: %#', (status, rest, problem) => {
    const found = problemOf(DetailedTask, { ...task, status, ...rest })
    expect(found).toEqual(typeof problem === 'string' ? problem : expect.stringMatching(problem))
  })

  it('needs no result when it is created', () => {
    expect(problemOf(CreateTaskResult, { resultType: 'task', ...task, status: 'completed' })).toBeUndefined()
  })
})

it('does not check the responses of an update, whose keys may be unknown', () => {
  expect(problemOf(UpdateTaskRequestParams, { taskId: 't', inputResponses: { no: { ignored: true } } })).toBeUndefined()
})
