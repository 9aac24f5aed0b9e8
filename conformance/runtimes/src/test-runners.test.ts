/** Runs the matchers and `createTest` of @mcpx/testing with real processes of the test runners of Node, Bun and Vitest. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { findRuntimes } from './runtimes.ts'
import { failing, MESSAGES } from './test-runners/assertions.ts'

const cwd = fileURLToPath(new URL('..', import.meta.url))
const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url))
const [bun] = await findRuntimes(['bun'])

/** Runs a program in this package. Returns its exit code and all that it has printed. */
function run(program: string, args: readonly string[]): Promise<{ code: unknown; output: string }> {
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1' }
  // These variables change the behaviour of child processes of `node --test` and Vitest.
  for (const name of ['NODE_OPTIONS', 'NODE_TEST_CONTEXT', 'VITEST', 'VITEST_POOL_ID']) delete env[name]
  return new Promise((resolve) => {
    execFile(program, args, { cwd, env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, output: stripVTControlCharacters(stdout + stderr) }),
    )
  })
}

const runners = [
  {
    name: 'node:test',
    program: process.execPath,
    args: ['--conditions=source', '--test', '--test-reporter=spec', 'src/test-runners/node.ts'],
    counts: ['pass 2', 'fail 4'],
  },
  {
    name: 'bun test',
    program: bun?.path,
    args: ['test', '--conditions=source', './src/test-runners/bun.ts'],
    counts: ['2 pass', '4 fail'],
  },
  {
    name: 'Vitest',
    program: process.execPath,
    args: [vitest, 'run', '--config', 'src/test-runners/vitest-config.ts', '--reporter=verbose'],
    counts: ['4 failed | 2 passed'],
  },
]

// A missing program is a failure only with the variable CI, as in the other checks of runtimes.
it.each(runners.filter(({ program }) => program !== undefined || process.env.CI))(
  'work with $name',
  { timeout: 90_000 },
  async ({ name, program, args, counts }) => {
    if (program === undefined) throw new Error(`${name}: the program is not installed; install it, or unset CI`)
    const { code, output } = await run(program, args)
    expect(code, output).toBe(1)
    for (const count of counts) expect(output).toContain(count)
    for (const message of MESSAGES) expect(output).toContain(message)
    for (const title of ['passes (modern over memory)', 'passes (legacy over memory)', ...Object.keys(failing)]) {
      expect(output).toContain(title)
    }
  },
)
