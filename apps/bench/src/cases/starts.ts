/** Startup: imports, and the time to the first response over HTTP. */
import type { Contestant, Maker, ServedCase, Target } from '../case.ts'
import { overHttp } from '../contestants.ts'

export const httpstart: ServedCase = {
  kind: 'served',
  name: 'httpstart',
  says: 'From the start of a server to its first answer to a `tools/call` over HTTP.',
  columns: [
    { head: 'ms', of: 'ms', digits: 0 },
    { head: 'ms above bare', of: 'ms', as: 'above', digits: 0, summary: 'start of an HTTP server, ms above bare' },
    { head: 'CPU ms', of: 'cpu', digits: 0 },
  ],
  contestants: overHttp(
    [
      ...(['bare', 'bareHono', 'nodeModern', 'nodeLegacy', 'honoModern'] as const),
      ...(['official2', 'official2Hono', 'official1', 'mcpLiteJson', 'tmcpModern'] as const),
    ],
    (subject, { isQuick }) => ({ kind: 'first-answer', subject, times: isQuick ? 1 : 5 }),
  ),
}

type Import = readonly [
  name: string,
  maker: Maker,
  specifiers: readonly string[],
  options?: { readonly target?: Target; readonly isBundled?: boolean },
]

const server = '@mcpx/server'
const target: Target = { atMost: 30 }

const imports: readonly Import[] = [
  ['zod', 'bare', ['zod']],
  ['zod/mini', 'bare', ['zod/mini']],
  ['zod/mini and Hono on Node', 'bare', ['zod/mini', 'hono', '@hono/node-server']],
  ['server and stdio', 'ours', [server, '@mcpx/transport-stdio'], { target }],
  ['server and HTTP on Node', 'ours', [server, '@mcpx/transport-http/node'], { target }],
  ['server and stdio, bundled', 'ours', [server, '@mcpx/transport-stdio'], { isBundled: true, target }],
  ['server and HTTP on Node, bundled', 'ours', [server, '@mcpx/transport-http/node'], { isBundled: true, target }],
  ['server and HTTP with Hono', 'ours', [server, '@mcpx/transport-http']],
  ['client and stdio', 'ours', ['@mcpx/client', '@mcpx/transport-stdio']],
  ['client and HTTP', 'ours', ['@mcpx/client', '@mcpx/transport-http/client']],
  ['official 2, stdio', 'official 2', ['@modelcontextprotocol/server', '@modelcontextprotocol/server/stdio']],
  ['official 2, HTTP', 'official 2', ['@modelcontextprotocol/server', '@modelcontextprotocol/node']],
  [
    'official 1, stdio',
    'official 1',
    ['@modelcontextprotocol/sdk/server/mcp.js', '@modelcontextprotocol/sdk/server/stdio.js'],
  ],
  [
    'official 1, HTTP',
    'official 1',
    ['@modelcontextprotocol/sdk/server/mcp.js', '@modelcontextprotocol/sdk/server/streamableHttp.js'],
  ],
  ['mcp-lite', 'mcp-lite', ['mcp-lite']],
  ['tmcp, stdio', 'tmcp', ['tmcp', '@tmcp/transport-stdio', '@tmcp/adapter-zod']],
  ['tmcp, HTTP', 'tmcp', ['tmcp', '@tmcp/transport-http', '@tmcp/adapter-zod']],
]

function importing(kind: 'imports' | 'modules', [name, maker, specifiers, options = {}]: Import): Contestant {
  const { target, isBundled } = options
  const modules = specifiers.map((specifier) => `\`${specifier}\``).join(', ')
  return {
    name,
    says: isBundled ? `${modules} as one file of esbuild` : modules,
    maker,
    targets: kind === 'imports' && target ? { 'CPU ms': target } : undefined,
    job: () => ({ kind, specifiers, isBundled }),
  }
}

export const imported: ServedCase = {
  kind: 'served',
  name: 'imports',
  says: 'The processor time of the import of a server and one transport, in a new process. On an idle machine, the import takes as long.',
  columns: [{ head: 'CPU ms', of: 'cpu', digits: 1, summary: 'import of a server and one transport, CPU ms' }],
  contestants: imports.map((each) => importing('imports', each)),
}

/** The number of loaded files. It is the same on every machine. */
export const modules: ServedCase = {
  kind: 'served',
  name: 'modules',
  says: 'The number and the total size of the files that the same imports read.',
  columns: [
    { head: 'files', of: 'modules', digits: 0 },
    { head: 'kB', of: 'kilobytes', digits: 1 },
  ],
  mostRounds: 1,
  contestants: imports.map((each) => importing('modules', each)),
}
