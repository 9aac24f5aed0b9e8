import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const guide = readFileSync(`${root}/docs/guides/moving.md`, 'utf8')
const official = (name: string) =>
  fileURLToPath(new URL(`../node_modules/@modelcontextprotocol/${name}`, import.meta.url))

/** The entry points of each version. */
const entries = {
  '1.x': [
    ...['mcp', 'index', 'stdio', 'streamableHttp', 'sse', 'completable', 'express', 'auth/router'].map(
      (each) => `server/${each}`,
    ),
    ...['auth/middleware/bearerAuth', 'auth/providers/proxyProvider'].map((each) => `server/${each}`),
    'server/middleware/hostHeaderValidation',
    ...['index', 'stdio', 'streamableHttp', 'sse', 'auth', 'auth-extensions', 'middleware', 'websocket'].map(
      (each) => `client/${each}`,
    ),
    ...['protocol', 'stdio', 'uriTemplate', 'metadataUtils'].map((each) => `shared/${each}`),
    'inMemory',
  ].map((each) => `@modelcontextprotocol/sdk/${each}.js`),
  '2.x': ['server', 'server/stdio', 'client', 'client/stdio', 'node', 'express', 'fastify', 'hono'].map(
    (each) => `@modelcontextprotocol/${each}`,
  ),
}

/** Exports that programs rarely use: constants, type guards, schemas of messages. */
const isDetail = (name: string) => /^[A-Z][A-Z0-9_]+$|^is[A-Z]|Schema$|^McpZodTypeKind$/.test(name)

/** Exports that the guide covers together in one sentence. */
const steps: Readonly<Record<string, RegExp>> = {
  'oauth()':
    /^(?:discover|start|exchange|refresh|fetch|register|prepare|select|extract|build|request|resolve|validate|assertSecure|parseErrorResponse|computeScopeUnion|accessTokenHash|checkResourceAllowed|resourceUrlFromServerUrl|createPrivateKeyJwtAuth|getOAuthProtectedResourceMetadataUrl)/,
  'the packages themselves':
    /^(?:classifyInboundRequest|createFetchWithInit|readRequestBody|preloadSchemas|assertCompleteRequest\w+|getCompleter|unwrapCompletable|getSupportedElicitationModes)$/,
}

/** Reads the exports in a separate process, without the `source` condition. */
function exportsOf(specifiers: readonly string[]): string[] {
  const program = `const modules = await Promise.all(${JSON.stringify(specifiers)}.map((each) => import(each)))
    console.log(JSON.stringify(modules.flatMap((each) => Object.keys(each))))`
  const flags = ['--input-type=module', '--eval', program]
  return JSON.parse(execFileSync(process.execPath, flags, { cwd: import.meta.dirname, encoding: 'utf8', env: {} }))
}

const RENAMED = '## Renamed since the first packs'

/** Returns the code spans in one column: of the tables of the official SDK, or of the table of renamed names. */
function spansOf(column: number, isRenamed = false): string[] {
  const tables = guide.split(RENAMED)[isRenamed ? 1 : 0] ?? ''
  const rows = tables.split('\n').filter((line) => /^\| (?![-\d])/.test(line))
  return rows.flatMap((row) =>
    [...(row.split('|')[column + 1] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
  )
}

/** Returns the names in code spans, without string literals and placeholders. */
function namesIn(spans: readonly string[]): string[] {
  const names = spans.flatMap((span) => span.replace(/'[^']*'/g, '').match(/[A-Za-z_]\w{2,}/g) ?? [])
  const own = /^(?:metadata|guard|factory|handler|words|note|true|false|undefined|await|const|this|uri|path)$/
  return [...new Set(names)].filter((name) => !own.test(name) && !/^My/.test(name))
}

function wordsIn(folder: string, pattern: string): Set<string> {
  const texts = globSync(pattern, { cwd: folder }).map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
  return new Set(texts.flatMap((text) => text.match(/[A-Za-z_]\w{2,}/g) ?? []))
}

describe('docs/guides/moving.md', () => {
  it.each(Object.entries(entries))('names all exports of version %s', (_, specifiers) => {
    const exported = exportsOf(specifiers).filter((name) => !isDetail(name))
    expect(exported.length).toBeGreaterThan(50)
    const left = [...new Set(exported)].filter((name) => !Object.values(steps).some((each) => each.test(name)))
    expect(left.filter((name) => !new RegExp(`\`[^\`]*\\b${name}\\b[^\`]*\``).test(guide))).toEqual([])
  })

  it('names only existing exports of the official SDK', () => {
    const first = wordsIn(official('sdk/dist/esm'), '**/*.d.ts')
    const second = new Set(
      ['server', 'client', 'node', 'express', 'fastify', 'hono'].flatMap((name) => [
        ...wordsIn(official(`${name}/dist`), '**/*.d.mts'),
      ]),
    )
    expect(namesIn(spansOf(0)).filter((name) => !first.has(name))).toEqual([])
    expect(namesIn(spansOf(1)).filter((name) => !second.has(name))).toEqual([])
  })

  it('names only existing names of our packages', () => {
    const ours = wordsIn(`${root}/packages`, '*/src/**/*.ts')
    expect(namesIn(spansOf(2)).filter((name) => !ours.has(name))).toEqual([])
    const renamed = namesIn(spansOf(1, true))
    expect(renamed.length).toBeGreaterThan(10)
    expect(renamed.filter((name) => !ours.has(name))).toEqual([])
  })
})
