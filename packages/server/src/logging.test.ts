import { eraOf, REVISIONS } from '@mcpx/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { createServer, type Server, type ServerOptions } from './index.ts'
import { closeAll, connect, connectRaw, text } from './peers.fixture.ts'

afterEach(closeAll)

const info = { name: 's', version: '1' }
const tools = { tools: [{ name: 't', inputSchema: { type: 'object' as const } }] }

/** A handler object that logs, with or without a `setLogLevel`. */
function byHand(options: ServerOptions = {}, more: object = {}): Server {
  return createServer(info, {
    ...options,
    ...more,
    listTools: () => tools,
    callTool: async (_params, ctx) => {
      await ctx.log.error('said')
      return text(1)
    },
  })
}

function fluent(options: ServerOptions = {}): Server {
  const server = createServer(info, options)
  return server.tool('t', {}, async (_args, ctx) => {
    await ctx.log.error('said')
    return '1'
  })
}

const speaking: Record<string, () => Server> = {
  'a registered tool': () => fluent(),
  'a handler with setLogLevel': () => byHand({}, { setLogLevel: () => {} }),
  'a handler that says so': () => byHand({ logging: true }),
  'a mounted server': () => createServer(info).mount('m', fluent()),
}
const silent: Record<string, () => Server> = {
  'a handler without setLogLevel': () => byHand(),
  'registered tools, unless they are told not to': () => fluent({ logging: false }),
  'a mounted server that is told not to': () => createServer(info).mount('m', fluent({ logging: false })),
}

describe.each(REVISIONS)('logging in revision %s', (revision) => {
  const isLegacy = eraOf(revision) === 'legacy'
  const meta = { 'io.modelcontextprotocol/logLevel': 'debug' }

  /** Returns the log messages and the declared capability that a client receives. */
  async function logsOf(server: Server) {
    const peer = await connect(server, revision)
    const { tools: listed } = (await peer.call('tools/list')) as { tools: { name: string }[] }
    await peer.call('tools/call', { name: listed[0]?.name, ...(!isLegacy && { _meta: meta }) })
    const setting = await peer.call('logging/setLevel', { level: 'debug' })
    return { heard: peer.heard.map(({ params }) => params?.data), code: setting.code }
  }

  it('sends null for undefined, and an Error as a string, because JSON would lose them', async () => {
    const server = createServer(info).tool('t', {}, async (_args, ctx) => {
      await ctx.log.error(undefined)
      await ctx.log.error(new TypeError('no number'))
    })
    expect((await logsOf(server)).heard).toStrictEqual([null, 'TypeError: no number'])
  })

  it.each(Object.keys(speaking))('is declared for %s, and sent [S-032, S-220]', async (name) => {
    const server = speaking[name]?.() as Server
    expect(await capabilitiesOf(server)).toHaveProperty('logging')
    expect(await logsOf(server)).toEqual({ heard: ['said'], code: isLegacy ? undefined : -32601 })
  })

  it.each(Object.keys(silent))('is neither declared nor sent for %s [S-032, S-220]', async (name) => {
    const server = silent[name]?.() as Server
    expect(await capabilitiesOf(server)).not.toHaveProperty('logging')
    expect(await logsOf(server)).toEqual({ heard: [], code: -32601 })
  })

  async function capabilitiesOf(server: Server): Promise<object> {
    const peer = await connectRaw(server)
    const hello = { protocolVersion: revision, capabilities: {}, clientInfo: info }
    const answer = isLegacy
      ? await peer.raw('initialize', hello)
      : await (await connect(server, revision)).call('server/discover')
    return (answer as unknown as { capabilities: object }).capabilities
  }
})
