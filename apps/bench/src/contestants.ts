/** The contestants: how each server is started, called and named. The cases select from them. */
import type { Contestant, Maker, RunOptions, Target } from './case.ts'
import type { HttpSubject, Job, PipeSubject } from './driver/job.ts'

const legacy = { era: 'legacy', hasSession: true } as const
const modern = { era: 'modern' } as const
/** The only revision that the contestant supports. */
const lite = { era: 'legacy', revision: '2025-06-18' } as const

const entrants = {
  bare: ['node:http alone', 'bare', { file: 'http/bare-node.mjs', ...legacy }],
  bareModern: [
    'the same with the longer requests of the modern era',
    'bare',
    { file: 'http/bare-node.mjs', ...modern },
  ],
  bareHono: ['Hono alone', 'bare', { file: 'http/bare-hono.mjs', era: 'legacy' }],
  honoText: [
    'Hono, its body read by `c.req.text()`',
    'bare',
    { file: 'http/hono-body.mjs', era: 'legacy', env: { READ: 'text' } },
  ],
  honoTurn: [
    'the same after the shared turn of the event loop',
    'bare',
    { file: 'http/hono-body.mjs', era: 'legacy', env: { READ: 'turn' } },
  ],
  honoIncoming: [
    'the same, its body read from `c.env.incoming`',
    'bare',
    { file: 'http/hono-body.mjs', era: 'legacy', env: { READ: 'incoming' } },
  ],
  nodeModern: ['`serveHttp`, modern era', 'ours', { file: 'http/serve-http.mjs', ...modern }],
  nodeLegacy: ['`serveHttp`, a session of the legacy era', 'ours', { file: 'http/serve-http.mjs', ...legacy }],
  honoModern: ['`mcp()` in a Hono app, modern era', 'ours', { file: 'http/hono.mjs', ...modern }],
  honoLegacy: ['`mcp()` in a Hono app, a session of the legacy era', 'ours', { file: 'http/hono.mjs', ...legacy }],
  official2: ['official SDK 2, modern era', 'official 2', { file: 'http/official-2.mjs', ...modern }],
  official2Hono: [
    'official SDK 2 with Hono, modern era',
    'official 2',
    { file: 'http/official-2-hono.mjs', ...modern },
  ],
  official2Legacy: [
    'official SDK 2, a session of the legacy era',
    'official 2',
    { file: 'http/official-2-session.mjs', ...legacy },
  ],
  official1: ['official SDK 1, a session', 'official 1', { file: 'http/official-1.mjs', ...legacy }],
  mcpLite: ['mcp-lite with Hono, no sessions', 'mcp-lite', { file: 'http/mcp-lite.mjs', ...lite }],
  mcpLiteJson: [
    'mcp-lite with Hono, no sessions',
    'mcp-lite',
    { file: 'http/mcp-lite.mjs', ...lite, accept: 'application/json' },
  ],
  mcpLiteLegacy: [
    'mcp-lite with Hono, a session',
    'mcp-lite',
    { file: 'http/mcp-lite.mjs', ...lite, hasSession: true, env: { SESSIONS: 'yes' } },
  ],
  tmcpModern: ['tmcp, modern era', 'tmcp', { file: 'http/tmcp.mjs', ...modern }],
  tmcpLegacy: ['tmcp, a session of the legacy era', 'tmcp', { file: 'http/tmcp.mjs', ...legacy }],
} as const satisfies Record<string, readonly [string, Maker, HttpSubject]>

export type HttpName = keyof typeof entrants

/** The name in a table. */
const kebab = (name: string) => name.replace(/[A-Z0-9]/g, (letter) => `-${letter.toLowerCase()}`)

/** The contestants over HTTP. The first contestant is the baseline. */
export const overHttp = choosing<HttpName, HttpSubject>(entrants)

const pipes = {
  bareEcho: ['JSON lines, each answer written by itself', 'bare', { file: 'stdio/bare-echo.mjs', era: 'legacy' }],
  bareCorked: [
    'the same with one write for all that was read',
    'bare',
    { file: 'stdio/bare-corked.mjs', era: 'legacy' },
  ],
  bareZod: ['the same with arguments checked by zod', 'bare', { file: 'stdio/bare-zod.mjs', era: 'legacy' }],
  modern: ['`serveStdio`, modern era', 'ours', { file: 'stdio/ours.mjs', era: 'modern' }],
  legacy: ['`serveStdio`, legacy era', 'ours', { file: 'stdio/ours.mjs', era: 'legacy' }],
  rawModern: ['`serveStdio` with plain JSON Schema, modern era', 'ours', { file: 'stdio/ours-raw.mjs', era: 'modern' }],
  official2: ['official SDK 2, modern era', 'official 2', { file: 'stdio/official-2.mjs', era: 'modern' }],
  official2Legacy: ['official SDK 2, legacy era', 'official 2', { file: 'stdio/official-2.mjs', era: 'legacy' }],
  official1: ['official SDK 1', 'official 1', { file: 'stdio/official-1.mjs', era: 'legacy' }],
  tmcpModern: ['tmcp, modern era', 'tmcp', { file: 'stdio/tmcp.mjs', era: 'modern' }],
  tmcpLegacy: ['tmcp, legacy era', 'tmcp', { file: 'stdio/tmcp.mjs', era: 'legacy' }],
} as const satisfies Record<string, readonly [string, Maker, PipeSubject]>

export type PipeName = keyof typeof pipes

/** The contestants over stdio. The first contestant is the baseline. */
export const overPipes = choosing<PipeName, PipeSubject>(pipes)

type Entrants<N extends string, S> = Readonly<Record<N, readonly [says: string, maker: Maker, subject: S]>>

/** Selects contestants. `targets` contains the targets by contestant and column. */
function choosing<N extends string, S>(all: Entrants<N, S>) {
  return (
    names: readonly N[],
    job: (subject: S, options: RunOptions) => Job,
    targets?: { readonly [K in N]?: Readonly<Record<string, Target>> },
  ): Contestant[] =>
    names.map((name, index) => {
      const [says, maker, subject] = all[name]
      const against = index === 0 || names[0] === undefined ? undefined : kebab(names[0])
      return {
        name: kebab(name),
        says,
        maker,
        against,
        targets: targets?.[name],
        job: (options) => job(subject, options),
      }
    })
}

/** The warm-up time of slow servers, whose JIT compilation needs about ten thousand calls. */
export function timesOf({ isQuick }: RunOptions): { readonly warmUp: number; readonly duration: number } {
  return isQuick ? { warmUp: 150, duration: 80 } : { warmUp: 4_000, duration: 2_000 }
}
