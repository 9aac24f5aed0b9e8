/**
 * One client for four servers: a child process, a URL, a server in this process, and an unreachable URL. `npm start`
 */
import { strict as assert } from 'node:assert'
import { connectAll } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { spawn } from '@mcpx/transport-stdio'
import { z } from 'zod'

const clock = createServer({ name: 'clock', version: '1.0.0' }).tool('now', {}, () => 'noon')
const mail = createServer({ name: 'mail', version: '1.0.0' }).tool(
  'send',
  { input: z.object({ to: z.string() }), output: z.object({ id: z.number() }) },
  async (_, ctx) => {
    const sure = await ctx.elicit('sure', { message: 'Really?', schema: z.object({}) })
    return { id: sure.action === 'accept' ? 1 : 0 }
  },
)
const { url, close } = await serveHttp(mail, { port: 0 })

const warnings: string[] = []
await using all = await connectAll(
  {
    git: spawn(process.execPath, [`${import.meta.dirname}/git.ts`]),
    mail: http(url),
    clock,
    news: http('http://127.0.0.1:3999/mcp'), // an unused port
  },
  // `connectAll` takes the options of `connect`, which apply to all servers.
  { onElicit: () => ({ action: 'accept', content: {} }), onWarning: ({ message }) => void warnings.push(message) },
)

// A server that fails is left out and reported. The other servers stay usable.
assert.deepEqual(Object.keys(all.clients).sort(), ['clock', 'git', 'mail'])
assert.match(all.failures.news?.message ?? '', /127\.0\.0\.1:3999.*ECONNREFUSED/)
assert.deepEqual(warnings, ['The server "news" could not be connected to'])
console.log(`unreachable: ${Object.keys(all.failures)}`)

// Names are prefixed, so that two servers may have a tool of the same name.
const tools = (await all.listTools().all()).map(({ name }) => name)
assert.deepEqual(tools.sort(), ['clock_now', 'git_log', 'mail_send'])
console.log(`tools: ${tools.join(', ')}`)

const { structuredContent } = await all.callTool('mail_send', { to: 'ada' })
assert.deepEqual(structuredContent, { id: 1 })
const [readme] = (await all.readResource('git.file://readme')).contents
assert.ok(readme !== undefined && 'text' in readme && readme.text === 'the text of readme')

// `clients` contains each single client, with the types of its server if they are known.
assert.deepEqual((await all.clients.clock?.callTool('now'))?.content, [{ type: 'text', text: 'noon' }])
await assert.rejects(all.callTool('calendar_add'), { name: 'ConnectionError', reason: 'unsupported' })
console.log('called three servers through one client')

await close()
console.log('ok')
