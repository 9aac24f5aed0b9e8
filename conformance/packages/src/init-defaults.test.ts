/** The guides and examples compile with the defaults of `tsc --init`, against the declarations of the packages. */
import { execFile, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { blocksOf, filesOf, programsOf } from '@mcpx/conformance-readmes/blocks'
import { afterAll, beforeAll, expect, it } from 'vitest'

const here = fileURLToPath(new URL('..', import.meta.url))
const root = join(here, '../..')
/** Inside the package that has the dependencies of the documents. */
const cache = join(root, 'conformance/readmes/.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'init-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const compilers: Readonly<Record<string, string>> = {
  '5.7': join(here, 'node_modules/typescript-5.7/bin/tsc'),
  '5.9': join(here, 'node_modules/typescript-5.9/bin/tsc'),
  '6': join(root, 'apps/reference/node_modules/typescript/bin/tsc'),
  '7': join(root, 'node_modules/typescript/bin/tsc'),
}

/** What users have to add: the types of Node, and imports with `.ts`, which Node itself runs. */
const additions = {
  types: ['node'],
  typeRoots: [join(root, 'node_modules/@types')],
  noEmit: true,
  allowImportingTsExtensions: true,
}

/** TypeScript 5.7 begins with CommonJS of 2016, which has no packages with `exports` and no `await` at the top. */
const modern = { module: 'nodenext', target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable', 'esnext.disposable'] }

/** Writes the code of each document into a folder of its own. */
function writeGuides(): string[] {
  return globSync('docs/guides/*.md', { cwd: root }).flatMap((document) => {
    const place = join(folder, basename(document, '.md'))
    mkdirSync(place)
    writeFileSync(join(place, 'package.json'), '{ "type": "module" }\n')
    const blocks = blocksOf(join(root, document))
    const programs = programsOf(blocks).map((block, index) => ({
      ...block,
      file: `program-${index + 1}.m${block.language}`,
    }))
    const files = [...filesOf(blocks), ...programs].filter(({ file = '' }) => /\.m?ts$/.test(file))
    for (const { file = '', text } of files) writeFileSync(join(place, file), text)
    return files.map(({ file = '' }) => join(place, file))
  })
}

function compile(version: string, files: readonly string[]): Promise<string> {
  const compiler = compilers[version] as string
  const place = mkdtempSync(join(folder, 'defaults-'))
  spawnSync(process.execPath, [compiler, '--init'], { cwd: place })
  const compilerOptions = { ...(version === '5.7' && modern), ...additions }
  const config = { extends: './tsconfig.json', compilerOptions, files }
  writeFileSync(join(place, 'tsconfig.guides.json'), JSON.stringify(config))
  return new Promise((resolve) => {
    const args = [compiler, '-p', 'tsconfig.guides.json', '--pretty', 'false']
    execFile(process.execPath, args, { cwd: place, maxBuffer: 2 ** 26 }, (_error, stdout) => resolve(stdout))
  })
}

/** The browser example has its own configuration. */
function examples(): string[] {
  const sources = globSync('apps/examples/*/src/**/*.ts', { cwd: root })
  return sources.filter((path) => !path.includes('browser')).map((path) => join(root, path))
}

let files: string[] = []

/** Builds the declarations of the packages, which users compile against. */
beforeAll(() => {
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-b'], { cwd: root, encoding: 'utf8' })
  expect(stdout).toBe('')
  expect(status).toBe(0)
  files = [...writeGuides(), ...examples()]
}, 240_000)

it.each(Object.keys(compilers))(
  'the guides and examples compile with the defaults of TypeScript %s',
  { timeout: 120_000 },
  async (version) => {
    expect(files.length).toBeGreaterThan(30)
    expect(await compile(version, files)).toBe('')
  },
)
