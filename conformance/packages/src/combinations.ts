/** Packages that users install together, the expected dependencies, and a program that uses them. */

export interface Combination {
  readonly of: readonly string[]
  /** The expected dependencies; others are faults. */
  readonly brings: readonly string[]
  /**
   * The program to run. The environment variable `SERVERS` names a folder with `stdio.mjs` and `http.mjs`, and `NODES` is a
   * JSON array with the paths of the supported versions of Node.
   */
  readonly program: string
  /** The expected output. */
  readonly prints: string
}

/** Dependencies of every client and server. */
const always = ['@mcpx/json-schema', '@mcpx/protocol', 'zod']
const overHttp = ['@hono/node-server', '@mcpx/sse', 'eventsource-parser', 'hono']
const overStdio = ['cross-spawn', 'isexe', 'path-key', 'shebang-command', 'shebang-regex', 'which']

const clock = `
import { createServer } from '@mcpx/server'
const server = createServer({ name: 'clock', version: '1.0.0' }).tool('now', {}, () => 'noon')
`

/** The servers that client-only combinations call, in the folder with all packages. */
export const servers: Readonly<Record<string, string>> = {
  'stdio.mjs': `${clock}
import { serveStdio } from '@mcpx/transport-stdio'
await serveStdio(server)
`,
  'http.mjs': `${clock}
import { serveHttp } from '@mcpx/transport-http/node'
const { url } = await serveHttp(server, { port: 0 })
console.log(url)
`,
}

const call = `
const { content } = await client.callTool('now')
console.log(client.era, content[0].text)
await client.close()
`

const callOverStdio = `
import { connect } from '@mcpx/client'
import { spawn } from '@mcpx/transport-stdio'
const client = await connect(spawn(process.execPath, [process.env.SERVERS + '/stdio.mjs']))
${call}`

const callOverHttp = `
import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
const server = spawn(process.execPath, [process.env.SERVERS + '/http.mjs'])
const [url] = await once(server.stdout, 'data')
const client = await connect(http(String(url).trim()))
${call}
server.kill()
`

/** Calls a server in TypeScript that no version of Node can load by itself, on each version. */
const callFromCommandLine = `
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
writeFileSync('server.ts', \`
import { createServer } from '@mcpx/server'
import { z } from 'zod'
enum Sign { Plus = 1 }
export const server = createServer({ name: 'math', version: '1.0.0' })
  .tool('add', { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }: { a: number; b: number }) => String(Sign.Plus * (a + b)))
\`)
const mcpx = 'node_modules/@mcpx/cli/dist/main.js'
for (const node of JSON.parse(process.env.NODES)) {
  const call = (...server) => execFileSync(node, [mcpx, 'call', ...server], { encoding: 'utf8' }).trim()
  console.log(call('server.ts', 'add', 'a=1', 'b=2'), call('now', '--', node, process.env.SERVERS + '/stdio.mjs'))
}
`

/** All combinations. The first combination contains all packages. */
export const combinations: readonly [Combination, ...Combination[]] = [
  {
    of: ['@mcpx/client', '@mcpx/server', '@mcpx/transport-http', '@mcpx/transport-stdio', 'hono'],
    brings: [...always, ...overHttp, ...overStdio],
    program: callOverHttp,
    prints: 'modern noon',
  },
  {
    of: ['@mcpx/client', '@mcpx/transport-stdio'],
    brings: [...always, ...overStdio],
    program: callOverStdio,
    prints: 'modern noon',
  },
  {
    of: ['@mcpx/client', '@mcpx/transport-http'],
    brings: [...always, ...overHttp],
    program: callOverHttp,
    prints: 'modern noon',
  },
  {
    of: ['@mcpx/server', '@mcpx/transport-stdio'],
    brings: [...always, ...overStdio],
    // There is no input, so the server exits at once.
    program: `${servers['stdio.mjs']}`,
    prints: '',
  },
  {
    of: ['@mcpx/server', '@mcpx/transport-http', 'hono'],
    brings: [...always, ...overHttp],
    program: `${clock}
import { mcp } from '@mcpx/transport-http'
import { Hono } from 'hono'
const app = new Hono().route('/mcp', mcp(server))
const put = (path) => app.request(path, { method: 'PUT' })
console.log((await put('/mcp')).status, (await put('/mcp/below')).status, (await put('/')).status)
`,
    prints: '405 405 404',
  },
  {
    of: ['@mcpx/server', '@mcpx/transport-http'],
    brings: [...always, ...overHttp],
    program: `${clock}
import { serveHttp } from '@mcpx/transport-http/node'
const { url, close } = await serveHttp(server, { port: 0 })
console.log((await fetch(url, { method: 'PUT' })).status)
await close()
const { mcp } = await import('@mcpx/transport-http')
console.log((await mcp(server).fetch(new Request('http://localhost/mcp', { method: 'PUT' }))).status)
`,
    prints: '405\n405',
  },
  {
    of: ['@mcpx/cli', '@mcpx/server'],
    // biome-ignore format: a list of names reads best as a paragraph
    brings: [
      ...always, ...overHttp, ...overStdio, '@bomb.sh/tab', '@clack/core', '@clack/prompts', '@mcpx/apps', '@mcpx/auth',
      '@mcpx/client',
      '@mcpx/toolset', '@mcpx/transport-http', '@mcpx/transport-stdio', 'commander', 'fast-string-truncated-width', 'fast-string-width',
      'fast-wrap-ansi', 'fflate', 'jiti', 'jose', 'jsonc-parser', 'oauth4webapi', 'sisteransi', 'smol-toml', 'yaml',
    ],
    program: callFromCommandLine,
    prints: '3 noon\n3 noon\n3 noon',
  },
]
