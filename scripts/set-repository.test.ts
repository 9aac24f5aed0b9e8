import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const script = fileURLToPath(new URL('set-repository.mjs', import.meta.url))

describe('set-repository', () => {
  let root: string

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'set-repository-'))
    mkdirSync(join(root, 'scripts'))
    copyFileSync(script, join(root, 'scripts/set-repository.mjs'))
    writePackage('sse', { description: 'Events', license: 'MIT', type: 'module' })
    writePackage('hidden', { private: true })
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  function writePackage(name: string, manifest: object): void {
    mkdirSync(join(root, 'packages', name), { recursive: true })
    writeFileSync(join(root, 'packages', name, 'package.json'), JSON.stringify({ name: `@mcpx/${name}`, ...manifest }))
  }

  function readPackage(name: string): Record<string, unknown> {
    return JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))
  }

  function run(...args: string[]) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(root, 'scripts/set-repository.mjs'), ...args],
      {
        encoding: 'utf8',
      },
    )
    return { status, output: stdout + stderr }
  }

  it('replaces the placeholder, which the check refuses', () => {
    expect(run('--check')).toMatchObject({ status: 1, output: expect.stringContaining('has no repository or author') })
    expect(run().status).toBe(0)
    expect(run('--check')).toMatchObject({
      status: 1,
      output: expect.stringContaining('packages/sse names the placeholder'),
    })
    expect(run('https://code.example/ada/mcpx', 'Ada <ada@code.example>')).toMatchObject({ status: 0 })
    expect(run('--check')).toEqual({ status: 0, output: '' })
    expect(readPackage('sse')).toEqual({
      name: '@mcpx/sse',
      description: 'Events',
      license: 'MIT',
      author: 'Ada <ada@code.example>',
      homepage: 'https://code.example/ada/mcpx/tree/main/packages/sse#readme',
      repository: { type: 'git', url: 'git+https://code.example/ada/mcpx.git', directory: 'packages/sse' },
      bugs: { url: 'https://code.example/ada/mcpx/issues' },
      type: 'module',
    })
    expect(readPackage('hidden')).toEqual({ name: '@mcpx/hidden', private: true })
  })

  it('gives a new package the fields of the others', () => {
    run('https://code.example/ada/mcpx', 'Ada')
    writePackage('zeta', { license: 'MIT' })
    expect(run('--check')).toMatchObject({
      status: 1,
      output: expect.stringContaining('packages/zeta has no repository'),
    })
    expect(run().status).toBe(0)
    expect(readPackage('zeta')).toMatchObject({ author: 'Ada', bugs: { url: 'https://code.example/ada/mcpx/issues' } })
    expect(run('--check').status).toBe(0)
  })

  it('refuses a URL that is none, and a missing author', () => {
    expect(run('ada/mcpx', 'Ada')).toMatchObject({ status: 1, output: expect.stringContaining('got ada/mcpx') })
    expect(run('https://code.example/ada/mcpx')).toMatchObject({ status: 1 })
    expect(readPackage('sse').repository).toBeUndefined()
  })
})
