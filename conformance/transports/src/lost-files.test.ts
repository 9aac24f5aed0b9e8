import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { compileCache, fromSource } from './hosts.fixture.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('lost-files.fixture.ts', import.meta.url))

describe('a lazily loaded file that fails to load', () => {
  it.each([['the validation of tool results', 'output']])('is loaded by the next call: %s', async (_, action) => {
    const { stdout } = await run(process.execPath, [...fromSource, script, action], {
      env: { ...process.env, ...compileCache },
    })
    expect(JSON.parse(stdout)).toEqual({ succeeded: [false, true], failsToLoad: false })
  })
})
