import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isAbsolute } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { spawn as spawnServer } from '@mcpx/transport-stdio'
import { describe, expect, it } from 'vitest'
import { hostsOf } from './hosts.ts'

const main = fileURLToPath(new URL('main.ts', import.meta.url))
const preload = fileURLToPath(new URL('../../../conformance/readmes/src/preload.mjs', import.meta.url))
const flags = ['--disable-warning=ExperimentalWarning', `--import=${preload}`, main]

function transcriptOfTheFrontPage(): string {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  return /^\$ npm start\n\.\.\.\n(.*?)^\.\.\.$/ms.exec(readme)?.[1] ?? 'no transcript'
}

function start(...args: string[]): ChildProcess {
  return spawn(process.execPath, [...flags, ...args], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 20_000 })
}

async function outcome(child: ChildProcess) {
  const [said, complaint, [code]] = await Promise.all([
    text(child.stdout as NonNullable<typeof child.stdout>),
    text(child.stderr as NonNullable<typeof child.stderr>),
    once(child, 'exit'),
  ])
  return { said, complaint, code }
}

describe('the demo', () => {
  it('shows a dialogue in both eras and ends, plainly where nobody looks', async () => {
    const { said, complaint, code } = await outcome(start('--once'))
    expect({ complaint, code }).toEqual({ complaint: '', code: 0 })
    expect(said).toMatch(/A modern client: .*A legacy client: .*ok: both said the same/s)
    expect(said.match(/← Row 7 to Bergen at 08:25, receipt \d/g)).toEqual([
      '← Row 7 to Bergen at 08:25, receipt 1',
      '← Row 7 to Bergen at 08:25, receipt 2',
    ])
    expect(said).not.toContain('\u001b')
    expect(said).toContain(transcriptOfTheFrontPage())
  }, 20_000)

  it('goes on serving until it is told to end, and says how to connect hosts', async () => {
    const child = start('--port', '0')
    let said = ''
    const serving = new Promise<void>((resolve) => {
      child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk
        if (said.includes('Ctrl-C ends it')) resolve()
      })
    })
    await Promise.race([serving, once(child, 'exit')])
    const url = /Serving on (\S+);/.exec(said)?.[1] ?? ''
    const settings = said.split('\n').filter((line) => line.trim().startsWith('{'))
    expect(settings.map((line) => JSON.parse(line)).slice(0, 3)).toEqual([
      { mcpServers: { trains: { url } } },
      { servers: { trains: { type: 'http', url } } },
      { mcpServers: { trains: { serverUrl: url } } },
    ])
    expect(said.split('\n').filter((line) => / mcp add /.test(line))).toEqual([
      `    claude mcp add --transport http trains ${url}`,
      `    codex mcp add trains --url ${url}`,
      `    gemini mcp add --transport http trains ${url}`,
    ])
    await using client = await connect(http(url))
    expect(client.server.info?.name).toBe('trains')
    child.kill('SIGINT')
    expect((await once(child, 'exit'))[0]).toBe(0)
  }, 20_000)

  it('gives hosts that start programs a command that needs nothing of a terminal', () => {
    const { command, args } = JSON.parse(hostsOf('http://127.0.0.1:3000/mcp').at(-1)?.what ?? '').mcpServers.trains
    expect([command, ...args].filter((each) => !isAbsolute(each))).toEqual(['--stdio'])
    expect([command, args[0]].filter((each) => !existsSync(each))).toEqual([])
  })

  it('says what to do when its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { complaint, code } = await outcome(start('--port', `${port}`))
    other.close()
    expect(complaint).toBe(
      `Port ${port} is taken: end what uses it, or choose another: npm start -- --port ${port + 1}\n`,
    )
    expect(code).toBe(1)
  }, 20_000)

  it('names its options to whoever guesses', async () => {
    const { complaint, code } = await outcome(start('--prot', '1'))
    expect(complaint).toMatch(/--prot.*npm start -- --port 4000/s)
    expect(code).toBe(1)
    expect((await outcome(start('--port', 'http'))).complaint).toBe('--port takes a number to 65535, not http\n')
  }, 20_000)

  it('serves on standard input and output', async () => {
    await using client = await connect(spawnServer(process.execPath, [...flags, '--stdio']))
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(['search', 'book'])
  }, 20_000)
})
