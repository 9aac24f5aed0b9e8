/** `mcpx inspect` as a process. */

import { expect, it } from 'vitest'
import { folderWith, mcpx, mcpxInTerminal, type TerminalRun } from '../cli.fixture.ts'
import type { InspectEvent } from '../inspect/api.ts'
import { desktop, protectedShop } from './login.fixture.ts'

/** Returns the address of the page. */
async function addressOf(run: TerminalRun): Promise<string> {
  await run.waitFor('until Ctrl-C')
  return /http:\/\/127\.0\.0\.1:\d+\/[\w-]{43}\//.exec(run.text().replaceAll('\r\n', ''))?.[0] ?? ''
}

async function messagesOf(url: string): Promise<readonly unknown[]> {
  const response = await fetch(`${url}events`)
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk)
    if (!text.includes('\n\n')) continue
    const event = JSON.parse(text.slice('data: '.length, text.indexOf('\n\n'))) as InspectEvent
    return event.type === 'hello' ? event.messages : []
  }
  return []
}

/** Resolves to the state of the connection, once it is known. */
async function stateOf(url: string) {
  const response = await fetch(`${url}events`)
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk)
    const events = text
      .split('\n\n')
      .slice(0, -1)
      .flatMap((part) => (part.startsWith('data: ') ? [JSON.parse(part.slice(6)) as InspectEvent] : []))
    const states = events.flatMap((event) => (event.type === 'hello' || event.type === 'state' ? [event.state] : []))
    const known = states.find(({ status }) => status !== 'connecting')
    if (known !== undefined) return known
  }
  throw new Error('The stream has ended')
}

it('serves the page until Ctrl-C', async () => {
  const cwd = new URL('.', import.meta.url).pathname
  const run = await mcpxInTerminal(['inspect', '../server.fixture.ts', '--no-open'], { cwd })
  expect(await stateOf(await addressOf(run))).toMatchObject({
    status: 'connected',
    server: { info: { title: 'The shop' } },
  })
  run.type('\u0003')
  expect(await run.exited).toBe(0)
  expect(run.text()).not.toContain('Deprecation')
})

it('shows the standard error of a server process in the log', async () => {
  const home = await folderWith({ 'server.mjs': "process.stderr.write('the shop opens\\n'); process.exit(3)" })
  const run = await mcpxInTerminal(['inspect', '--no-open', '--', process.execPath, 'server.mjs'], { cwd: home })
  const url = await addressOf(run)
  expect(await stateOf(url)).toMatchObject({ status: 'failed', error: { title: 'Server process exited' } })
  await expect
    .poll(() => messagesOf(url))
    .toContainEqual(expect.objectContaining({ title: 'stderr', detail: 'the shop opens' }))
  run.type('\u0003')
  expect(await run.exited).toBe(0)
  expect(run.text()).not.toContain('the shop opens')
})

it('opens the browser with an address that leads to the page once', async () => {
  const env = await desktop()
  const script = `#!${process.execPath}\nrequire('node:fs').writeFileSync(${JSON.stringify(`${env.HOME}/opened`)}, process.argv[2])\n`
  const home = await folderWith({ 'bin/xdg-open': script, 'bin/open': script })
  const { chmod, readFile } = await import('node:fs/promises')
  for (const name of ['xdg-open', 'open']) await chmod(`${home}/bin/${name}`, 0o755)
  const PATH = `${home}/bin:${process.env.PATH}`
  const run = await mcpxInTerminal(['inspect', 'https://127.0.0.1:9/mcp'], { env: { ...env, PATH }, cwd: home })
  const url = await addressOf(run)
  const readOpened = () => readFile(`${env.HOME}/opened`, 'utf8').catch(() => '')
  await expect.poll(readOpened).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{43}$/)
  const opened = await readOpened()
  // Other users of the machine see the arguments of the browser.
  expect(opened).not.toContain(new URL(url).pathname.slice(1, -1))
  expect((await fetch(opened)).url).toBe(url)
  expect((await fetch(opened)).status).toBe(404)
  expect(await stateOf(url)).toMatchObject({ status: 'failed', error: { title: 'Server unreachable' } })
  run.type('\u0003')
  expect(await run.exited).toBe(0)
})

it('logs in by the browser, and explains why it does not', async () => {
  const server = await protectedShop()
  const env = await desktop()
  const refused = await mcpxInTerminal(['inspect', server, '--no-open', '--no-login'], { env })
  expect(await stateOf(await addressOf(refused))).toMatchObject({
    status: 'failed',
    error: { title: 'Login needed', remedy: expect.stringContaining(`mcpx login ${server}`) },
  })
  refused.type('\u0003')
  const run = await mcpxInTerminal(['inspect', server, '--no-open'], { env })
  expect(await stateOf(await addressOf(run))).toMatchObject({ status: 'connected', server: { info: { name: 'shop' } } })
  run.type('\u0003')
  expect(await run.exited).toBe(0)
})

it('refuses wrong ports and unknown servers', async () => {
  const port = await mcpx(['inspect', 'https://example.com/mcp', '--port', 'many'])
  expect(port).toMatchObject({ code: 2, stdout: '' })
  expect(port.stderr).toContain('--port: expected a number from 0 to 65535, got "many"')
  expect((await mcpx(['inspect', 'nothing'])).code).toBe(2)
  expect((await mcpx(['inspect'])).code).toBe(2)
})
