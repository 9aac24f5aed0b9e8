import { afterEach, describe, expect, it } from 'vitest'
import { closeAll, connect } from './eras/eras.fixture.ts'
import { createServer } from './index.ts'

afterEach(closeAll)

const info = { name: 'test', version: '1' }
const inner = () => createServer(info).tool('t', {}, () => '')

describe('the parts of a server', () => {
  it('begin with what was registered, however late that came', async () => {
    const handler = { listTools: () => ({ tools: [{ name: 'given', inputSchema: { type: 'object' as const } }] }) }
    const server = createServer(info, { ...handler, callTool: () => ({ content: [] }) }).mount('part', inner())
    const peer = await connect(
      server.tool('a', {}, () => '').tool('b', {}, () => ''),
      '2026-07-28',
    )
    const { tools } = (await peer.call('tools/list')) as { tools?: unknown }
    expect(tools).toMatchObject([{ name: 'a' }, { name: 'b' }, { name: 'given' }, { name: 'part.t' }])
  })
})
