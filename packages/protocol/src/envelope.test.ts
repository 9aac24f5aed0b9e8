import { describe, expect, it } from 'vitest'
import {
  claimsModern,
  type Envelope,
  readEnvelope,
  serverInfoOf,
  subscriptionIdOf,
  withEnvelope,
  withServerInfo,
  withSubscriptionId,
} from './envelope.ts'

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const INFO = 'io.modelcontextprotocol/clientInfo'
const LEVEL = 'io.modelcontextprotocol/logLevel'
const SERVER = 'io.modelcontextprotocol/serverInfo'
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'

const least = { [VERSION]: '2026-07-28', [CAPABILITIES]: {} }

function read(meta: unknown): Envelope | string {
  return readEnvelope({ _meta: meta })
}

describe('the envelope of a request', () => {
  it('is read completely', () => {
    const capabilities = { elicitation: { url: {} }, extensions: { 'com.example/x': {} } }
    const info = { name: 'c', version: '1', title: 'C' }
    expect(
      read({ [VERSION]: '2026-07-28', [CAPABILITIES]: capabilities, [INFO]: info, [LEVEL]: 'info', other: 1 }),
    ).toEqual({
      protocolVersion: '2026-07-28',
      clientCapabilities: capabilities,
      clientInfo: info,
      logLevel: 'info',
    })
  })

  it('needs only a version and capabilities', () => {
    expect(read(least)).toEqual({ protocolVersion: '2026-07-28', clientCapabilities: {} })
  })

  it.each([
    ['no parameters', undefined, `params._meta["${VERSION}"]: expected string, got nothing`],
    ['no metadata', {}, `params._meta["${VERSION}"]: expected string, got nothing`],
    ['metadata of another type', { _meta: [] }, 'params._meta: expected object, got array'],
    ['no version', { _meta: { [CAPABILITIES]: {} } }, `params._meta["${VERSION}"]: expected string, got nothing`],
    [
      'a null version',
      { _meta: { ...least, [VERSION]: null } },
      `params._meta["${VERSION}"]: expected string, got null`,
    ],
    [
      'no capabilities',
      { _meta: { [VERSION]: '2026-07-28', [LEVEL]: 1 } },
      `params._meta["${CAPABILITIES}"]: expected object, got nothing`,
    ],
    [
      'a capability that is not an object',
      { _meta: { ...least, [CAPABILITIES]: { sampling: true } } },
      `params._meta["${CAPABILITIES}"].sampling: expected object, got boolean`,
    ],
    [
      'client info without a version',
      { _meta: { ...least, [INFO]: { name: 'c' } } },
      `params._meta["${INFO}"].version: expected string, got nothing`,
    ],
    [
      'invalid icons',
      { _meta: { ...least, [INFO]: { name: 'c', version: '1', icons: 'x' } } },
      `params._meta["${INFO}"].icons: expected array, got string`,
    ],
    [
      'a log level that does not exist',
      { _meta: { ...least, [LEVEL]: 'loud' } },
      `params._meta["${LEVEL}"]: expected one of debug, info, notice, warning, error, critical, alert, emergency, got string`,
    ],
  ])('names the first error: %s', (_, params, problem) => {
    expect(readEnvelope(params)).toBe(problem)
  })

  it('may contain unknown capabilities, and icons', () => {
    const capabilities = { roots: { listChanged: true }, dreams: 1 }
    const info = { name: 'c', version: '1', icons: [{ src: 'data:,' }] }
    expect(read({ ...least, [CAPABILITIES]: capabilities, [INFO]: info })).toMatchObject({
      clientCapabilities: capabilities,
      clientInfo: info,
    })
  })

  it('of an unknown revision is read only as far as every revision defines it', () => {
    expect(read({ ...least, [VERSION]: '2099-01-01', [INFO]: 'new', [LEVEL]: 7 })).toEqual({
      protocolVersion: '2099-01-01',
      clientCapabilities: {},
    })
  })

  it('is read as it was written, without changing other metadata and parameters', () => {
    const envelope: Envelope = {
      protocolVersion: '2026-07-28',
      clientCapabilities: { sampling: {} },
      clientInfo: { name: 'c', version: '1' },
      logLevel: 'error',
    }
    const params = { cursor: 'x', _meta: { progressToken: 0 } }
    const written = withEnvelope(params, envelope)
    expect(readEnvelope(written)).toEqual(envelope)
    expect(written).toMatchObject(params)
    expect(params).toEqual({ cursor: 'x', _meta: { progressToken: 0 } })
    expect(withEnvelope(undefined, { protocolVersion: '2026-07-28', clientCapabilities: {} })).toEqual({ _meta: least })
  })
})

describe('the claim to be modern', () => {
  it('is any version in the metadata', () => {
    for (const version of ['2026-07-28', 'x', 7, null]) {
      expect(claimsModern({ method: 'initialize', params: { _meta: { [VERSION]: version } } })).toBe(true)
    }
  })

  it('is nothing else', () => {
    const others = [undefined, null, 1, [], {}, { params: 1 }, { params: [] }, { params: { _meta: null } }]
    for (const message of [...others, { params: { _meta: { [CAPABILITIES]: {} } } }, { [VERSION]: 'x' }]) {
      expect(claimsModern(message)).toBe(false)
    }
  })
})

describe('the stamps', () => {
  it('name the server of a result', () => {
    const info = { name: 's', version: '1' }
    const result = { content: [], _meta: { 'com.example/a': 1, [SERVER]: { name: 'other', version: '0' } } }
    const stamped = withServerInfo(result, info)
    expect(stamped).toEqual({ content: [], _meta: { 'com.example/a': 1, [SERVER]: info } })
    expect(serverInfoOf(stamped)).toEqual(info)
    expect(result._meta[SERVER].name).toBe('other')
  })

  it('are ignored if they are invalid', () => {
    for (const info of [undefined, null, 's', { name: 's' }, { name: 's', version: 1 }]) {
      expect(serverInfoOf({ _meta: { [SERVER]: info } })).toBeUndefined()
    }
    expect(serverInfoOf({})).toBeUndefined()
  })

  it('keep the id of a subscription, including zero and the empty string', () => {
    for (const id of [0, 7, '', '7']) {
      expect(subscriptionIdOf(withSubscriptionId(undefined, id))).toBe(id)
    }
    expect(withSubscriptionId({ uri: 'a:b' }, 7)).toEqual({ uri: 'a:b', _meta: { [SUBSCRIPTION]: 7 } })
    for (const id of [null, 0.5, {}, undefined])
      expect(subscriptionIdOf({ _meta: { [SUBSCRIPTION]: id } })).toBeUndefined()
  })
})
