import { once } from 'node:events'
import { chmod, readFile, stat } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { bearer } from '@mcpx/auth/resource-server'
import { devAuthorizationServer } from '@mcpx/testing/authorization-server'
import { serveHttp, toNodeHandler } from '@mcpx/transport-http/node'
import { expect, it, onTestFinished } from 'vitest'
import { folderWith, mcpx, mcpxInTerminal } from '../cli.fixture.ts'
import { server } from '../server.fixture.ts'

/** Starts an authorization server and a server that it protects. */
async function protectedShop(): Promise<string> {
  const apps: { fetch(request: Request): Promise<Response> }[] = []
  const authorization = createHttpServer((request, response) => {
    const handle = toNodeHandler({ fetch: (each: Request) => (apps[0] as (typeof apps)[number]).fetch(each) })
    void handle(request, response)
  }).listen(0, '127.0.0.1')
  await once(authorization, 'listening')
  const issuer = `http://127.0.0.1:${(authorization.address() as AddressInfo).port}`
  apps.push(devAuthorizationServer({ issuer }))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/mcp`
  const { close } = await serveHttp(server, { port, authenticate: bearer({ issuer, audience: url, scopes: ['mcp'] }) })
  onTestFinished(async () => {
    await close()
    authorization.close()
    authorization.closeAllConnections()
  })
  return url
}

async function freePort(): Promise<number> {
  const probe = createHttpServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

/** A home folder, and a program in place of the browser, which accepts at once. */
async function desktop(): Promise<{ HOME: string; PATH: string; DISPLAY: string }> {
  const script = `#!${process.execPath}\nfetch(process.argv[2]).then((response) => response.text())\n`
  const home = await folderWith({ 'bin/xdg-open': script, 'bin/open': script })
  for (const name of ['xdg-open', 'open']) await chmod(`${home}/bin/${name}`, 0o755)
  return { HOME: home, PATH: `${home}/bin:${process.env.PATH}`, DISPLAY: ':0' }
}

it('logs in by the browser once, keeps the tokens for later commands, and deletes them', async () => {
  const url = await protectedShop()
  const env = await desktop()
  const login = await mcpxInTerminal(['login', url], { env })
  expect(await login.exited, login.text()).toBe(0)
  expect(login.text()).toContain(`${url} accepts your requests.`)

  const file = `${env.HOME}/.config/mcpx/tokens.json`
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const call = () => mcpx(['call', url, 'slow'], { env })
  expect(await call()).toMatchObject({ code: 0, stdout: 'done\n', stderr: '' })

  expect(await mcpx(['logout', url], { env })).toMatchObject({
    code: 0,
    stdout: `The tokens of ${url} were deleted.\n`,
  })
  expect(await readFile(file, 'utf8')).not.toContain('access_token')
  expect(await call()).toMatchObject({ code: 5, stdout: '' })
})

it('logs in when a call needs it', async () => {
  const terminal = await mcpxInTerminal(['call', await protectedShop(), 'slow'], { env: await desktop() })
  expect(await terminal.exited, terminal.text()).toBe(0)
  expect(terminal.text()).toContain('done')
})

it('never opens a browser without a terminal or with --no-login: exit code 5 and the remedy', async () => {
  const url = await protectedShop()
  const env = await desktop()
  const piped = await mcpx(['call', url, 'slow'], { env })
  expect(piped).toMatchObject({ code: 5, stdout: '', stderr: expect.stringContaining(`mcpx login ${url}`) })
  const refused = await mcpxInTerminal(['call', url, 'slow', '--no-login'], { env })
  expect(await refused.exited).toBe(5)
  const wrong = await mcpx(['call', url, 'slow', '--token', 'wrong'], { env })
  expect(wrong).toMatchObject({ code: 5, stdout: '' })
  expect(wrong.stderr).not.toContain('wrong"')
  expect(await mcpx(['login', url], { env })).toMatchObject({ code: 2, stderr: expect.stringContaining('MCPX_TOKEN') })
  expect(await mcpx(['logout', 'shop'], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is not a URL'),
  })
})
