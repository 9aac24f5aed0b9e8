/** Modules that export a server compile with declarations, which libraries and project references need. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const here = fileURLToPath(new URL('..', import.meta.url))
const root = join(here, '../..')
const cache = join(here, '.cache')
mkdirSync(cache, { recursive: true })
// Inside this package, so that its dependencies are resolved.
const folder = mkdtempSync(join(cache, 'declarations-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const module = `
import { connect } from '@mcpx/client'
import { createServer, timeout } from '@mcpx/server'
import { z } from 'zod'

declare const text: string | undefined

export const inner = createServer({ name: 'inner', version: '1.0.0' })
  .tool('ping', {}, () => 'pong')
  .prompt('hello', {}, () => 'Hello')

export const server = createServer({ name: 'outer', version: '1.0.0' })
  .use(timeout(1_000))
  .tool('add', { input: z.object({ a: z.number() }), output: z.object({ sum: z.number() }) }, ({ a }) => ({ sum: a }))
  .tool('raw', { title: text, description: text, input: { type: 'object' } }, (args) => Object.keys(args))
  .prompt('review', { args: z.object({ code: z.string(), lang: z.enum(['ts', 'js']).optional() }) }, ({ code }) => code)
  .resource('note://{id}', { title: text, mimeType: text, list: () => [] }, ({ id }) => id)
  .mount('inner', inner)

export default server
export const open = () => connect(server)
`

/** A program that compiles against the declarations of the module. */
const consumer = `
import server, { open } from './server.js'
export const first: string = server.handler.callTool === undefined ? 'none' : 'some'
export async function sum(): Promise<number> {
  const client = await open()
  // @ts-expect-error: \`a\` is a number
  await client.tools.add({ a: '1' })
  return (await client.tools.add({ a: 1 })).sum
}
`

const strict = {
  target: 'es2022',
  lib: ['es2023', 'dom', 'dom.iterable', 'esnext.disposable'],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  declaration: true,
}

const compilers: Readonly<Record<string, string>> = {
  '5.7': join(here, 'node_modules/typescript-5.7/bin/tsc'),
  '5.9': join(here, 'node_modules/typescript-5.9/bin/tsc'),
  '7': join(root, 'node_modules/typescript/bin/tsc'),
}

function compile(compiler: string, args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, [compiler, ...args], { cwd: root, encoding: 'utf8' })
  return status === 0 ? '' : stdout + stderr
}

/** Builds the declarations, because a `composite` project does not accept sources of other packages. */
beforeAll(() => {
  expect(compile(compilers['7'] as string, ['-b', 'packages/server', 'packages/client'])).toBe('')
}, 120_000)

/** Each call has one option that does not exist. */
const misspelled = `
import { type Connector, connect, connectAll } from '@mcpx/client'
import { createServer } from '@mcpx/server'
declare const http: Connector
declare const spawn: Connector & { readonly peer: string }
const server = createServer({ name: 'a', version: '1' }).tool('ping', {}, () => 'pong')
void connect(http, { timeuot: 3 })
void connect(spawn, { timeuot: 3 })
void connect(server, { onElicitation: () => {} })
void connect<typeof server>(http, { timeuot: 3 })
void connectAll({ one: http, two: server }, { timeuot: 3 })
`

describe.each(Object.keys(compilers))('TypeScript %s', (version) => {
  const compiler = compilers[version] as string

  it.each([false, true])(
    'writes the declarations of an exported server (composite: %s)',
    { timeout: 60_000 },
    (composite) => {
      const project = join(folder, `${version}-${composite}`)
      mkdirSync(project)
      writeFileSync(join(project, 'package.json'), '{ "type": "module" }\n')
      writeFileSync(join(project, 'server.ts'), module)
      writeFileSync(join(project, 'consumer.ts'), consumer)
      const compilerOptions = { ...strict, composite, outDir: 'out' }
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['server.ts'] }))
      expect(compile(compiler, ['-p', project])).toBe('')
      const declarations = readFileSync(join(project, 'out/server.d.ts'), 'utf8')
      expect(declarations).toMatch(/import\("@mcpx\/server"\)\.Server|from '@mcpx\/server'|from "@mcpx\/server"/)
      // From here on, only the declarations exist.
      rmSync(join(project, 'server.ts'))
      writeFileSync(join(project, 'server.d.ts'), declarations)
      const reading = { compilerOptions: { ...strict, noEmit: true, declaration: false }, files: ['consumer.ts'] }
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(reading))
      expect(compile(compiler, ['-p', project])).toBe('')
    },
  )
})

describe.each(Object.keys(compilers))('TypeScript %s names', (version) => {
  it('the option of connect that is misspelled', { timeout: 60_000 }, () => {
    const project = join(folder, `${version}-misspelled`)
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }\n')
    writeFileSync(join(project, 'main.ts'), misspelled)
    const compilerOptions = { ...strict, noEmit: true, declaration: false }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }))
    const errors =
      compile(compilers[version] as string, ['-p', project, '--pretty', 'false']).match(/error TS.*/g) ?? []
    const timeout =
      "error TS2561: Object literal may only specify known properties, but 'timeuot' does not exist in type 'ClientOptions'. Did you mean to write 'timeout'?"
    const onElicit =
      "error TS2353: Object literal may only specify known properties, and 'onElicitation' does not exist in type 'ClientOptions'."
    const ofGroup = timeout.replace('ClientOptions', 'GroupOptions<"one" | "two">')
    expect(errors).toEqual([timeout, timeout, onElicit, timeout, ofGroup])
  })
})

it('the examples compile with declarations', { timeout: 60_000 }, () => {
  const examples = join(root, 'apps/examples')
  const sources = readdirSync(examples)
    .map((name) => join(examples, name, 'src'))
    // The browser example has its own configuration.
    .filter((source) => existsSync(source) && !source.includes('browser'))
    .map((source) => `${relative(folder, source)}/**/*.ts`)
  expect(sources.length).toBeGreaterThan(5)
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: root,
    outDir: 'out',
    tsBuildInfoFile: 'out/info',
  }
  const config = { extends: join(root, 'tsconfig.test.json'), compilerOptions, include: sources }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  expect(compile(compilers['7'] as string, ['-p', folder])).toBe('')
})
