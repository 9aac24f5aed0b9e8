import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { CODEC_LIMITS, DUPLEX_LIMITS } from './limits.ts'

const folder = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(folder, 'README.md'), 'utf8')
const snippets = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1] as string)

/** Returns the comments after `console.log(...)` calls, which state the output. */
function promised(snippet: string): string[] {
  return [...snippet.matchAll(/console\.log\(.+\) \/\/ (.+)$/gm)].map((match) => match[1] as string)
}

/** Runs a snippet with the sources; resolves to the printed lines, or rejects with the error. */
function run(snippet: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const flags = ['--conditions=source', '--input-type=module-typescript', '--disable-warning=ExperimentalWarning']
    const child = spawn(process.execPath, [...flags, '-'], { cwd: folder, timeout: 20_000 })
    let output = ''
    let problem = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (problem += chunk))
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0 && problem === ''
        ? resolve(output.trimEnd().split('\n'))
        : reject(new Error(problem || `exit code ${code}`)),
    )
    child.stdin.end(snippet)
  })
}

/** Compiles all snippets like a user; resolves to the errors, or to an empty string. */
function compile(): Promise<string> {
  const place = mkdtempSync(join(tmpdir(), 'readme-'))
  const source = (name: string) => [join(folder, 'src', `${name}.ts`)]
  const config = {
    extends: join(folder, '../../tsconfig.base.json'),
    compilerOptions: {
      composite: false,
      noEmit: true,
      skipLibCheck: true,
      paths: {
        '@mcpx/protocol': source('index'),
        '@mcpx/protocol/*': source('*'),
        'zod/mini': [join(folder, 'node_modules/zod/mini/index.d.ts')],
      },
    },
    include: ['*.mts'],
  }
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify(config))
  for (const [index, snippet] of snippets.entries()) writeFileSync(join(place, `${index + 1}.mts`), snippet)
  const tsc = join(folder, '../../node_modules/typescript/bin/tsc')
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, '-p', place], (error, output) => {
      rmSync(place, { recursive: true })
      resolve(error === null ? '' : output || error.message)
    })
  })
}

describe('the README', () => {
  it('names the limits of the code', () => {
    const limits = {
      ...CODEC_LIMITS,
      ...Object.fromEntries(Object.entries(DUPLEX_LIMITS).map(([k, v]) => [`limits.${k}`, v])),
    }
    for (const [name, value] of Object.entries(limits)) {
      const rows = readme.split('\n').filter((line) => line.startsWith(`| \`${name}\``))
      expect([name, rows.some((row) => row.includes(` ${value.toLocaleString('en')} `))]).toEqual([name, true])
    }
  })

  it('shows each entry', () => {
    for (const entry of ['', '/memory', '/uri-template'])
      expect(snippets.some((snippet) => snippet.includes(`from '@mcpx/protocol${entry}'`))).toBe(true)
  })

  it('contains only examples that compile', async () => expect(await compile()).toBe(''), 30_000)

  it.each(snippets.map((snippet, index) => [index + 1, snippet] as const))(
    'prints the stated output in example %i',
    async (_, snippet) => {
      expect(promised(snippet)).not.toEqual([])
      expect(await run(snippet)).toEqual(promised(snippet))
    },
    30_000,
  )
})
