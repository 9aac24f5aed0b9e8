/** A server that requires a login, and a desktop whose browser logs in at once. */

import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { bearer } from '@mcpx/auth/resource-server'
import { devAuthorizationServer } from '@mcpx/testing/authorization-server'
import { serveHttp, toNodeHandler } from '@mcpx/transport-http/node'
import { onTestFinished } from 'vitest'
import { folderWith } from '../cli.fixture.ts'
import { server } from '../server.fixture.ts'

/** Starts an authorization server and a server that it protects. */
export async function protectedShop(): Promise<string> {
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
export async function desktop(): Promise<{ HOME: string; PATH: string; DISPLAY: string }> {
  const script = `#!${process.execPath}\nfetch(process.argv[2]).then((response) => response.text())\n`
  const home = await folderWith({ 'bin/xdg-open': script, 'bin/open': script })
  for (const name of ['xdg-open', 'open']) await chmod(`${home}/bin/${name}`, 0o755)
  return { HOME: home, PATH: `${home}/bin:${process.env.PATH}`, DISPLAY: ':0' }
}
