import * as protocol from '@mcpx/protocol'
import { REVISIONS } from '@mcpx/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import * as server from './index.ts'
import { createServer, ToolError } from './index.ts'
import { closeAll, connect } from './peers.fixture.ts'

afterEach(closeAll)

const fail = (): never => {
  throw new ToolError('There is no note called x.')
}

const requests: Record<string, object> = {
  'resources/read': { uri: 'note://1' },
  'resources/list': {},
  'prompts/get': { name: 'p' },
  'completion/complete': { ref: { type: 'ref/resource', uri: 'note://{id}' }, argument: { name: 'id', value: '' } },
}

describe.each(REVISIONS)('the message of a ToolError in revision %s', (revision) => {
  it.each(Object.keys(requests))('is returned for %s, and not reported as an error', async (method) => {
    const faults: unknown[] = []
    const made = createServer({ name: 's', version: '1' }, { onError: (error) => void faults.push(error) })
      .resource('note://{id}', { list: fail, complete: { id: fail } }, fail)
      .prompt('p', {}, async () => fail())
    const peer = await connect(made, revision)
    expect(await peer.call(method, requests[method] as protocol.JsonObject)).toMatchObject({
      code: -32603,
      message: 'There is no note called x.',
    })
    expect(faults).toEqual([])
  })
})

describe('the exported errors', () => {
  it('are those of the protocol package', () => {
    const pairs: [unknown, unknown][] = [
      [server.ErrorCode, protocol.ErrorCode],
      [server.RpcError, protocol.RpcError],
      [server.insufficientScope, protocol.insufficientScope],
      [server.internalError, protocol.internalError],
      [server.invalidParams, protocol.invalidParams],
      [server.invalidRequest, protocol.invalidRequest],
      [server.methodNotFound, protocol.methodNotFound],
      [server.missingClientCapability, protocol.missingClientCapability],
      [server.urlElicitationRequired, protocol.urlElicitationRequired],
    ]
    for (const [ours, theirs] of pairs) expect(ours).toBe(theirs)
  })

  it('describe a missing resource with the code of each era', async () => {
    const made = createServer({ name: 's', version: '1' }).resource('a:{id}', { complete: { id: [] } }, ({ id }) => {
      throw server.resourceNotFound(`a:${id}`)
    })
    for (const revision of REVISIONS) {
      const peer = await connect(made, revision)
      const code = revision < '2026-07-28' ? -32002 : -32602
      expect(await peer.call('resources/read', { uri: 'a:1' })).toMatchObject({ code, data: { uri: 'a:1' } })
    }
  })
})
