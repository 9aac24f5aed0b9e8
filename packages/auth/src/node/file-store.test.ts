import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { oauth } from '../client/oauth.ts'
import { storeContract } from '../client/store-contract.fixture.ts'
import { caught, World } from '../client/world.fixture.ts'
import { fileStore, withFileLock } from './file-store.ts'

const folder = () => mkdtemp(join(tmpdir(), 'mcpx-auth-'))

storeContract('a file', async () => {
  const file = join(await folder(), 'deep', 'tokens.json')
  return [fileStore(file), fileStore(file)]
})

it('creates a file and a folder that only the owner can read, and no other files [C-159]', async () => {
  const inside = join(await folder(), 'config')
  const file = join(inside, 'tokens.json')
  const store = fileStore(file)
  await store.set('a', { secret: 1 })
  await store.lock?.('a', async () => {})
  expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600')
  expect(((await stat(inside)).mode & 0o777).toString(8)).toBe('700')
  expect(await readdir(inside)).toEqual(['tokens.json'])
  await chmod(file, 0o644)
  await store.get('a')
  expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600')
})

it('names a file that is damaged or cannot be written, without quoting it [C-159]', async () => {
  const file = join(await folder(), 'tokens.json')
  for (const text of ['', '{"records": "hush', '[]', '{"records": []}']) {
    await writeFile(file, text)
    const error = await caught(async () => fileStore(file).get('a'))
    expect(error).toMatchObject({ step: 'storage', message: expect.stringMatching(/tokens\.json contains no records/) })
    expect(`${(error as Error).stack}${String((error as Error).cause)}`).not.toMatch(/hush/)
  }
  expect(await readFile(file, 'utf8')).toBe('{"records": []}')
  const notAFolder = join(file, 'tokens.json')
  expect(await caught(async () => fileStore(notAFolder).get('a'))).toMatchObject({ step: 'storage' })
})

it('breaks the lock of a dead process, and no other', async () => {
  const path = join(await folder(), 'x.lock')
  const options = { stale: 10_000, timeout: 60 }
  const run = async () => 'done'
  const left = { token: 'old', host: hostname() }
  await writeFile(path, JSON.stringify({ ...left, pid: 2 ** 22 + 1 }))
  expect(await withFileLock(path, options, run)).toBe('done')
  for (const holder of [{ ...left, pid: process.pid }, { ...left, host: 'elsewhere', pid: 2 ** 22 + 1 }, {}, null]) {
    await writeFile(path, JSON.stringify(holder))
    expect(await caught(() => withFileLock(path, options, run))).toMatchObject({
      message: expect.stringMatching(/not released within 60 ms.*x\.lock/),
    })
    const before = new Date(Date.now() - 11_000)
    await utimes(path, before, before)
    expect(await withFileLock(path, options, run)).toBe('done')
  }
})

it('keeps a lock while its holder works', async () => {
  const path = join(await folder(), 'x.lock')
  const options = { stale: 400, timeout: 5_000 }
  let isHeld = false
  const hold = () =>
    withFileLock(path, options, async () => {
      expect(isHeld).toBe(false)
      isHeld = true
      await new Promise((resolve) => setTimeout(resolve, 900))
      isHeld = false
    })
  await Promise.all([hold(), hold()])
})

it('sends one refresh for four processes, and all of their calls succeed', async () => {
  const worlds: World[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const [world] = worlds
    if (world === undefined) return
    const url = `http://${request.headers.host}${request.url}`
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as [string, string]] : [],
    )
    const body = chunks.length === 0 ? null : Buffer.concat(chunks)
    const answer = await world.fetch(url, { method: request.method ?? 'GET', headers, body })
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(await answer.text())
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const world = new World({ mcp: `${origin}/mcp`, issuer: origin })
  worlds.push(world)
  try {
    const file = join(await folder(), 'tokens.json')
    await oauth({ redirect: world.redirect, store: fileStore(file) })(world.fetch)(world.mcp)
    world.valid.clear()
    const program = fileURLToPath(new URL('./refresher.fixture.ts', import.meta.url))
    const run = () => promisify(execFile)(process.execPath, ['--conditions=source', program, file, world.mcp])
    const outputs = await Promise.all([run(), run(), run(), run()])
    expect(outputs.map(({ stdout }) => JSON.parse(stdout))).toEqual(outputs.map(() => [200, 200, 200, 200, 200]))
    const grants = world.to('/token').map(({ body }) => new URLSearchParams(body).get('grant_type'))
    expect(grants).toEqual(['authorization_code', 'refresh_token'])
    expect([world.logins, world.reused]).toEqual([1, 0])
  } finally {
    server.close()
  }
}, 20_000)

it('refuses a lockTimeout that is not a positive number', () => {
  for (const lockTimeout of [Number.NaN, 0, -1]) {
    const message = `lockTimeout: expected a positive number of ms, got ${lockTimeout}`
    expect(() => fileStore('tokens.json', { lockTimeout })).toThrow(new RangeError(message))
  }
})
