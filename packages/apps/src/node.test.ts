import { mkdtemp, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { file } from './node.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'views-'))
  path = join(folder, 'view.html')
  await writeFile(path, '<p>1</p>')
})

afterEach(() => rm(folder, { recursive: true }))

it('is read again after a change, and reports it', async () => {
  const source = file(pathToFileURL(path))
  const onChange = vi.fn()
  const stop = source.watch?.(onChange, (warning) => expect.fail(warning.message))
  expect(await source.read()).toBe('<p>1</p>')
  await writeFile(join(folder, 'new.html'), '<p>2</p>')
  await rename(join(folder, 'new.html'), path)
  await expect.poll(() => onChange.mock.calls.length).toBe(1)
  expect(await source.read()).toBe('<p>2</p>')
  stop?.()
  await writeFile(path, '<p>3</p>')
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(onChange).toHaveBeenCalledOnce()
})

it('is read once in production', async () => {
  vi.stubEnv('NODE_ENV', 'production')
  const source = file(path)
  vi.unstubAllEnvs()
  expect(source.watch).toBeUndefined()
  await source.read()
  await writeFile(path, '<p>2</p>')
  expect(await source.read()).toBe('<p>1</p>')
})

it('is refused when it is missing, no file, or too large', async () => {
  expect(() => file(join(folder, 'no.html'))).toThrow(/^file: there is no file ".*no.html"; a path is relative to/)
  expect(() => file(folder)).toThrow(/there is no file/)
  expect(() => file(5 as never)).toThrow('file: expected the path of a file or a URL, got number')
  expect(() => file(path, { wach: true } as never)).toThrow('did you mean "watch"?')
  const source = file(path)
  await truncate(path, 100_000_000)
  await expect(source.read()).rejects.toThrow('expected at most 10485760 characters (10 MiB), got 100000000')
  await rm(path)
  await expect(source.read()).rejects.toThrow('there is no file')
})
