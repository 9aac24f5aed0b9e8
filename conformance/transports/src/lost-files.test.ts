import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { compileCache, fromSource } from './hosts.fixture.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('lost-files.fixture.ts', import.meta.url))

describe('a file that could not be loaded when it was needed first', () => {
  it.each([['what checks what tools give', 'output']])('is loaded the next time: %s', async (_, what) => {
    const { stdout } = await run(process.execPath, [...fromSource, script, what], {
      env: { ...process.env, ...compileCache },
    })
    expect(JSON.parse(stdout)).toEqual({ went: [false, true], isLost: false })
  })
})
