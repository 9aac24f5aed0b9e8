/** Takes the examples out of a README, compiles them as a user would, and runs them against the sources. */
import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('..', import.meta.url))
const root = join(here, '../..')

/** The blocks that are fenced as `ts`. What is fenced as `js` only shows, and is not run. */
export function snippetsOf(packageName: string): string[] {
  const readme = readFileSync(join(root, 'packages', packageName, 'README.md'), 'utf8')
  return [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1] as string)
}

/** What the comments behind `console.log(...)` say that it prints. */
export function promisedBy(snippet: string): string[] {
  return [...snippet.matchAll(/console\.log\(.+\) \/\/ (.+)$/gm)].map((match) => match[1] as string)
}

/** Resolves to what a snippet printed, in one line where there are spaces; rejects with what went wrong. */
export function run(snippet: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const flags = ['--conditions=source', '--input-type=module-typescript', '--disable-warning=ExperimentalWarning']
    const child = spawn(process.execPath, [...flags, '-'], { cwd: here, timeout: 20_000 })
    let output = ''
    let problem = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (problem += chunk))
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0 && problem === '') resolve(output.trimEnd().split('\n'))
      else reject(new Error(problem || `exit code ${code}`))
    })
    // A comment has one line, however wide the value is.
    const setUp = `import { inspect } from 'node:util'\ninspect.defaultOptions.breakLength = Infinity\n`
    child.stdin.end(setUp + snippet)
  })
}

/** What the compiler says about the snippets; nothing when it is content. */
export function compile(snippets: readonly string[]): Promise<string> {
  // Within this package, so that its dependencies are found.
  const cache = join(here, 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const place = mkdtempSync(join(cache, 'readme-'))
  const files = snippets.map((_, index) => `${index + 1}.mts`)
  for (const [index, snippet] of snippets.entries()) writeFileSync(join(place, files[index] as string), snippet)
  const compilerOptions = { composite: false, noEmit: true, skipLibCheck: true }
  const config = { extends: join(root, 'tsconfig.base.json'), compilerOptions, files }
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify(config))
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', place], (error, output) => {
      rmSync(place, { recursive: true })
      resolve(error === null ? '' : output || error.message)
    })
  })
}
