import { globSync, readFileSync } from 'node:fs'
import { REVISIONS, revisionsOf } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { blocksOf } from './blocks.ts'
import { pathOf, root } from './documents.ts'
import { stages } from './names.ts'
import { optionsOf } from './options.ts'

const words = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
const textOf = (path: string): string => readFileSync(pathOf(path), 'utf8').replace(/\s+/g, ' ')

function defaultOf(file: string, interfaceName: string, option: string): number {
  const number = optionsOf(file, interfaceName).find(({ name }) => name === option)?.number
  return Number(number?.replaceAll(',', ''))
}

const client = (option: string) => defaultOf('packages/client/src/options.ts', 'ClientOptions', option)
const endpoint = (option: string) =>
  defaultOf('packages/transport-http/src/server/options.ts', 'EndpointOptions', option)
const port = defaultOf('packages/transport-http/src/node/serve-http.ts', 'ServeHttpOptions', 'port')
const revisions = words[REVISIONS.length]
const [oldest, newest] = [REVISIONS[0], REVISIONS.at(-1)]
const legacy = revisionsOf('legacy')
const source = (path: string, wanted: RegExp): string => wanted.exec(readFileSync(pathOf(path), 'utf8'))?.[1] ?? '?'
const runtimes = source('conformance/runtimes/src/runtimes.ts', /RuntimeName = (.+)/)
const nodes = [...runtimes.matchAll(/node(\d+)/g)].map((match) => match[1]).join(', ')
const tested = `Node ${nodes.replace(/, (\d+)$/, ' and $1')}`
const zod = source('pnpm-workspace.yaml', /zod: \^(\d+\.\d+)/)
const reasons = source('packages/protocol/src/errors.ts', /ConnectionErrorReason =(.+?)\n\n/s)
const reasonList = [...reasons.matchAll(/'([\w-]+)'/g)].map((match) => `\`${match[1]}\``).join(', ')
const pnpm = source('package.json', /"packageManager": "(.+)"/)

/** Sentences with a number in them, as the sources have it. */
const facts: readonly (readonly [document: string, sentence: string])[] = [
  ['README.md', `that speak all ${revisions} of its revisions`],
  ['README.md', `serves on port ${port}`],
  ['README.md', `**It runs on** ${tested}, Bun, Deno and workerd`],
  ['docs/CONTRIBUTING.md', `serves one server on ${tested}, Bun, Deno and workerd`],
  ['docs/CONTRIBUTING.md', `npx -y ${pnpm} install`],
  ['packages/server/README.md', `zod from ${zod} on`],
  ['docs/guides/errors.md', `Reasons of a \`ConnectionError\`: ${reasonList}.`],
  ['docs/guides/eras.md', `The protocol has ${revisions} revisions, in two families`],
  ['docs/guides/eras.md', `legacy: ${legacy[0]} to ${legacy.at(-1)}`],
  ['docs/guides/eras.md', `modern: ${revisionsOf('modern').join(', ')}`],
  ['packages/server/README.md', `all ${revisions} revisions, ${oldest} to ${newest}`],
  ['packages/client/README.md', `from ${oldest} to ${newest}`],
  [
    'docs/guides/first-client.md',
    `by default ${client('timeout') / 1000} s without a sign of life, and ${client('maxTimeout') / 60_000} min in all`,
  ],
  ['docs/guides/serving.md', `a comment every ${endpoint('keepAlive') / 1000} s (\`keepAlive\`)`],
  [
    'docs/CONTRIBUTING.md',
    `only these stages: ${stages()
      .map((name) => `\`${name}\``)
      .join(', ')}`,
  ],
]

describe('a number in prose', () => {
  it.each(facts)('is that of the sources, in %s: %s', (document, sentence) => {
    expect({ document, sentence, isThere: textOf(document).includes(sentence) }).toMatchObject({ isThere: true })
  })

  it('is the length of what is shown: a server of 12 lines at most, a client of 8', () => {
    const lines = blocksOf(pathOf('README.md')).map(
      ({ file, text }) => [file, text.trimEnd().split('\n').length] as const,
    )
    const lengths = Object.fromEntries(lines.filter(([file]) => file !== undefined))
    expect(lengths['server.mjs']).toBeLessThanOrEqual(12)
    expect(lengths['client.mjs']).toBeLessThanOrEqual(8)
  })

  it.each(['README.md', 'docs/guides/first-server.md', 'docs/CONTRIBUTING.md'])(
    'is the oldest Node that works, in %s',
    (document) => {
      const { engines } = JSON.parse(readFileSync(pathOf('package.json'), 'utf8'))
      expect(textOf(document)).toContain(`Node ${engines.node.replace('>=', '')} or newer`)
    },
  )
})

describe('a list in prose', () => {
  it.each([
    ['README.md', 'docs/guides/*.md', (path: string) => path],
    ['apps/examples/README.md', 'apps/examples/*/package.json', (path: string) => path.split('/')[2] ?? ''],
    ['docs/decisions/README.md', 'docs/decisions/0*.md', (path: string) => path.split('/')[2] ?? ''],
  ])('is whole, in %s: %s', (document, pattern, linkOf) => {
    const links = globSync(pattern, { cwd: root }).map((path) => linkOf(path.replaceAll('\\', '/')))
    expect(links.length).toBeGreaterThan(0)
    expect(links.filter((link) => !readFileSync(pathOf(document), 'utf8').includes(`(${link})`))).toEqual([])
  })
})
