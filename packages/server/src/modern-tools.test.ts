import { afterEach, describe, expect, it } from 'vitest'
import { closeAll, connectRaw } from './eras/eras.fixture.ts'
import { createServer } from './modern-tools.ts'
import { info, testToolServer } from './tool-server.fixture.ts'

afterEach(closeAll)

const MODERN = '2026-07-28'

testToolServer('tools/modern', createServer, MODERN)

describe('a server of tools for modern clients alone', () => {
  it('refuses "initialize", and says which revisions are served', async () => {
    const params = { protocolVersion: 'x', capabilities: {}, clientInfo: info }
    const error = await (await connectRaw(createServer(info))).raw('initialize', params)
    expect(error).toMatchObject({ code: -32022, data: { supported: [MODERN] } })
  })

  it('has no feed that only the other era has', () => {
    const server = createServer(info)
    expect([server.watchChanges, server.sessionEnded, server.legacy]).toEqual([undefined, undefined, false])
  })
})
