import { globSync, readFileSync } from 'node:fs'
import { REVISIONS } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { pathOf, root } from './documents.ts'
import { entries, fileNames, namesIn, scripts, shippedWords, shownWords, spansOf, stages } from './names.ts'

const all = ['*.md', 'docs/**/*.md', 'packages/*/README.md', 'apps/**/*.md', 'conformance/**/*.md']
  .flatMap((pattern) =>
    globSync(pattern, { cwd: root, exclude: (path) => /node_modules|\.cache|CHANGELOG/.test(path) }),
  )
  .sort()
const forUsers = all.filter((path) => /^(?:README\.md|docs\/guides\/(?!moving)|packages\/)/.test(path))

/** Names that are not ours: programs, settings, functions of runtimes, hosts, headers, and tools of other servers. */
const theirs = [
  'HTTPException',
  'NodeSDK',
  'basicAuth',
  ...[
    'login_hint',
    'git_search',
    'git_log',
    'enable_request_signal',
    'NODE_COMPILE_CACHE',
    'edge',
    'proxy_buffering',
    'wrangler',
    'jsonc',
    'workerd',
    'deno',
    'docker',
    'npx',
    'eval',
    'writeSync',
  ],
  ...['Retry', 'After', 'afterAll', 'devDependency', 'sessionStorage', 'skipLibCheck', 'undici', 'Agent'],
  // Names of the kits of model APIs.
  ...[
    'streamText',
    'tool_calls',
    'functionCalls',
    'DynamicStructuredTool',
    'FunctionDeclaration',
    'responseJsonSchema',
  ],
  // Placeholders for names of the reader.
  ...['mail', 'meal', 'alice', 'hijack', 'envFile', 'Thinking', 'Sequential', 'Sequential_Thinking', 'acme_mail'],
]

const textOf = (path: string): string => readFileSync(pathOf(path), 'utf8')
/** Removes generated sections, which their generators check. */
const written = (text: string): string => text.replace(/<!-- begin: (\w+) -->.*?<!-- end: \1 -->/gs, '')

describe('a name in prose', () => {
  it('is extracted from code spans', () => {
    expect(namesIn(["f({ a1b: 'text', cd: e.fgh })", 'npm run x', '@other/thing', 'a/file.ts', 'server.mjs'])).toEqual([
      'a1b',
      'fgh',
    ])
  })

  const shipped = shippedWords()
  it.each(forUsers)('exists in the packages or in code blocks, in %s', (path) => {
    const shown = shownWords(path)
    const known = (name: string) => shipped.has(name) || shown.has(name) || theirs.includes(name)
    const unknown = namesIn(spansOf(written(textOf(path)))).filter((name) => !known(name))
    expect(unknown, 'correct these names, or add names of others to `theirs`').toEqual([])
  })

  it.each(all)('of a package can be imported, in %s', (path) => {
    const named = [...textOf(path).matchAll(/@mcpx\/[\w-]+(?:\/[\w-]+)*/g)].map(([name]) => name)
    const there = entries()
    // Packages with this prefix are not implemented yet.
    expect(named.filter((name) => !there.has(name) && !name.startsWith('@mcpx/ext-'))).toEqual([])
  })

  it.each(all)('of a command exists, in %s', (path) => {
    const named = [...textOf(path).matchAll(/\bnpm run ([\w:-]+)/g)].map((match) => match[1] ?? '')
    expect(named.filter((name) => !scripts().includes(name))).toEqual([])
    const tested = [...textOf(path).matchAll(/\bnpm test -- ([a-z ]+[a-z])/g)].flatMap(
      (match) => match[1]?.split(' ') ?? [],
    )
    expect(tested.filter((name) => !stages().includes(name))).toEqual([])
  })

  // Placeholders for file names, and a file that a command writes.
  const files = fileNames().add('name.ts').add('name.test.ts').add('mcpx.lock.json')
  it.each(all)('of a file exists, in %s', (path) => {
    const text = textOf(path)
    const bare = spansOf(text).filter((span) => /^[\w-]+(?:\.[\w-]+)*\.(?:ts|mts|mjs|js|json|md|ya?ml|sh)$/.test(span))
    const inBlocks = [...text.matchAll(/^```\w+ (\S+)$/gm)].map((match) => match[1])
    const shown = [...text.matchAll(/^```.*?^```/gms)].join('\n')
    const there = (name: string) => inBlocks.includes(name) || shown.includes(name) || files.has(name)
    expect(bare.filter((name) => !there(name))).toEqual([])
  })

  it.each(forUsers)('of a revision exists, in %s', (path) => {
    const dates = written(textOf(path)).match(/\b20\d\d-\d\d-\d\d\b/g) ?? []
    expect(dates.filter((date) => !REVISIONS.some((revision) => revision === date))).toEqual([])
  })
})
