import { describe, expect, it } from 'vitest'
import * as errors from './errors.ts'
import { ConnectionError } from './errors.ts'
import { errorMessage } from './messages.ts'

describe('named errors', () => {
  it.each([
    [errors.parseError(), -32700, undefined],
    [errors.invalidRequest('m'), -32600, undefined],
    [errors.methodNotFound('a/b'), -32601, undefined],
    [errors.invalidParams('m', { data: { path: 'a' } }), -32602, { path: 'a' }],
    [errors.internalError(), -32603, undefined],
    [errors.resourceNotFound('x:1', 'legacy'), -32002, { uri: 'x:1' }],
    [errors.resourceNotFound('x:1', 'modern'), -32602, { uri: 'x:1' }],
    [errors.headerMismatch('m'), -32020, undefined],
    [
      errors.missingClientCapability({ elicitation: { url: {} } }),
      -32021,
      { requiredCapabilities: { elicitation: { url: {} } } },
    ],
    [
      errors.unsupportedVersion('1999-01-01', ['2026-07-28']),
      -32022,
      { supported: ['2026-07-28'], requested: '1999-01-01' },
    ],
    [errors.urlElicitationRequired([{ mode: 'url' }]), -32042, { elicitations: [{ mode: 'url' }] }],
    [errors.userRejected(), -1, undefined],
  ])('%s', (error, code, data) => {
    expect(error).toBeInstanceOf(errors.RpcError)
    expect(error).toMatchObject({ name: 'RpcError', code })
    expect(error.data).toEqual(data)
    const wire = JSON.parse(JSON.stringify(errorMessage(7, error)))
    expect(wire).toEqual({ jsonrpc: '2.0', id: 7, error: { code, message: error.message, ...(data && { data }) } })
    expect(errors.toRpcError(wire.error)).toMatchObject({ code, message: error.message })
  })

  it('names the missing capabilities', () => {
    expect(errors.missingClientCapability({ sampling: { tools: {} }, roots: {} }).message).toBe(
      'The client must declare: sampling.tools, roots',
    )
  })

  it('never sends its cause', () => {
    const error = errors.internalError('safe', { cause: new Error('secret') })
    expect(JSON.stringify(errorMessage(1, error))).not.toContain('secret')
    expect(error.cause).toMatchObject({ message: 'secret' })
  })

  it('shortens and quotes names that a peer chose', () => {
    expect(errors.methodNotFound(`a"\n${'x'.repeat(500)}`).message.length).toBeLessThan(140)
    expect(errors.methodNotFound('a"\n').message).toBe('Method not found: "a\\"\\n"')
  })
})

describe('local errors', () => {
  it('are distinguished from errors of the peer, and contain a remedy', () => {
    const cause = new Error('below')
    const error = new ConnectionError('unreachable', 'No route', { retryable: true, hint: 'Check the URL.', cause })
    expect(error).not.toBeInstanceOf(errors.RpcError)
    expect(error).toMatchObject({
      name: 'ConnectionError',
      reason: 'unreachable',
      retryable: true,
      hint: 'Check the URL.',
      cause,
    })
    expect(new ConnectionError('closed', 'm')).toMatchObject({ retryable: false, hint: undefined })
  })
})
