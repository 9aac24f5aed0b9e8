import { describe, expect, it } from 'vitest'
import { stripFor, stripParamsFor } from './downgrade.ts'
import { clientRequestParams, clientRequestResult, inputResponse, notificationParams } from './method-schemas.ts'
import { capabilityFor, eraTables, type MethodKind, LATEST_MODERN_REVISION as MODERN, methodEntry } from './methods.ts'
import { check, type Schema } from './validate.ts'

function fits(schema: Schema<unknown> | undefined, value: unknown): boolean {
  return schema !== undefined && check(schema, value).problem === undefined
}

describe('the modern era', () => {
  it('has ten requests, all from the client, with shapes for parameters and results', () => {
    const methods = Object.keys(eraTables.modern.requests)
    expect(methods).toHaveLength(10)
    for (const method of methods) {
      expect(methodEntry(MODERN, method, 'request')?.from).toBe('client')
      expect(clientRequestParams(MODERN, method), method).toBeDefined()
      expect(clientRequestResult(MODERN, method), method).toBeDefined()
    }
  })

  it('has a shape for each notification and for each input response', () => {
    for (const method of Object.keys(eraTables.modern.notifications)) {
      expect(notificationParams(MODERN, method), method).toBeDefined()
    }
    expect(Object.keys(eraTables.modern.inputRequests)).toHaveLength(3)
    for (const method of Object.keys(eraTables.modern.inputRequests)) {
      expect(inputResponse(MODERN, method), method).toBeDefined()
      expect(methodEntry(MODERN, method, 'request')).toBeUndefined()
    }
  })

  it('has six cacheable results and three requests that may need input', () => {
    const entries = Object.entries(eraTables.modern.requests)
    expect(entries.filter(([, entry]) => entry.cacheable).map(([name]) => name)).toEqual([
      'server/discover',
      'tools/list',
      'resources/list',
      'resources/templates/list',
      'resources/read',
      'prompts/list',
    ])
    expect(entries.filter(([, entry]) => entry.mayAsk).map(([name]) => name)).toEqual([
      'tools/call',
      'resources/read',
      'prompts/get',
    ])
  })

  it('checks the input responses and the state of a retry', () => {
    for (const [method, params] of [
      ['tools/call', { name: 'a' }],
      ['prompts/get', { name: 'a' }],
      ['resources/read', { uri: 'a:b' }],
    ] as const) {
      const schema = clientRequestParams(MODERN, method)
      const answered = { ...params, requestState: '', inputResponses: { a: { action: 'accept' }, b: { roots: [] } } }
      expect(fits(schema, answered)).toBe(true)
      expect(fits(schema, { ...params, inputResponses: { a: {} } })).toBe(false)
      expect(fits(schema, { ...params, inputResponses: null })).toBe(false)
      expect(fits(schema, { ...params, requestState: 1 })).toBe(false)
    }
  })

  it('does not accept inherited property names', () => {
    for (const name of ['__proto__', 'constructor', 'toString', '']) {
      for (const kind of ['request', 'notification', 'inputRequest'] satisfies MethodKind[]) {
        expect(methodEntry(MODERN, name, kind)).toBeUndefined()
        expect(capabilityFor(MODERN, name, kind)).toBeUndefined()
      }
      expect(clientRequestParams(MODERN, name)).toBeUndefined()
      expect(notificationParams(MODERN, name)).toBeUndefined()
      expect(inputResponse(MODERN, name)).toBeUndefined()
    }
  })

  it('keeps unknown members', () => {
    const value = { resultType: 'complete', content: [{ type: 'audio' }] }
    expect(stripFor(MODERN, 'tools/call', value)).toBe(value)
    expect(stripParamsFor(MODERN, 'tools/call', value)).toBe(value)
  })
})
