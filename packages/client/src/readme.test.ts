import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const folder = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const snippets = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1] ?? '')

/** Runs a snippet against the sources and resolves to what it printed, errors included. */
function run(snippet: string): Promise<string> {
  return new Promise((resolve) => {
    const flags = [
      '--conditions=source',
      '--input-type=module-typescript',
      '--disable-warning=ExperimentalWarning',
      '-',
    ]
    const child = spawn(process.execPath, flags, { cwd: folder, timeout: 20_000 })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    child.on('close', () => resolve(output.trimEnd()))
    child.stdin.end(snippet)
  })
}

it('has examples that print what they say', async () => {
  expect(snippets.length).toBeGreaterThan(0)
  for (const snippet of snippets) {
    const promised = [...snippet.matchAll(/console\.log\(.+\) \/\/ (.+)$/gm)].map((match) => match[1])
    expect(await run(snippet)).toBe(promised.join('\n'))
  }
}, 30_000)
