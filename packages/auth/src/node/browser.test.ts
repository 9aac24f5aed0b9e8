import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openBrowser } from './loopback.ts'

/** Replaces the programs that open browsers on Linux and macOS: records their arguments. */
async function fakeBrowser(): Promise<{ folder: string; seen: () => Promise<string | undefined> }> {
  const folder = await mkdtemp(join(tmpdir(), 'mcpx-browser-'))
  const file = join(folder, 'seen')
  for (const name of ['xdg-open', 'open']) {
    await writeFile(join(folder, name), `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > '${file}'\n`)
    await chmod(join(folder, name), 0o755)
  }
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
  vi.stubEnv('DISPLAY', ':0')
  onTestFinished(() => void vi.unstubAllEnvs())
  return { folder, seen: () => readFile(file, 'utf8').catch(() => undefined) }
}

it.each(['file:///etc/passwd', 'javascript:alert(1)', 'data:text/html,x', 'vbscript:x', 'ssh://host'])(
  'does not open %s [C-157]',
  async (url) => {
    const { seen } = await fakeBrowser()
    expect(await openBrowser(new URL(url))).toBe(false)
    expect(await seen()).toBeUndefined()
  },
)

it('passes the URL as one argument, without a shell [C-157]', async () => {
  const { folder, seen } = await fakeBrowser()
  const bad = join(folder, 'bad')
  const gap = ['$', '{IFS}'].join('')
  const url = new URL(`https://as.example/a?x=$(touch${gap}${bad});touch${gap}${bad}&y=\`id\``)
  expect(await openBrowser(url)).toBe(true)
  expect(await seen()).toBe(`1\n${url.href}\n`)
  await expect(readFile(bad)).rejects.toMatchObject({ code: 'ENOENT' })
})
