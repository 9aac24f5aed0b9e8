import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
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

function readmeTranscript(): string {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  return /^\$ npm start\n\.\.\.\n(.*?)^\.\.\.$/ms.exec(readme)?.[1] ?? 'no transcript'
}

function start(...args: string[]): ChildProcess {
  return spawn(process.execPath, [...flags, ...args], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 20_000 })
}

async function outcome(child: ChildProcess) {
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout as NonNullable<typeof child.stdout>),
    text(child.stderr as NonNullable<typeof child.stderr>),
    once(child, 'exit'),
  ])
  return { stdout, stderr, code }
}

describe('the demo', () => {
  it('shows a dialogue in both eras without colours when piped, and exits', async () => {
    const { stdout, stderr, code } = await outcome(start('--once'))
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(stdout).toMatch(/A modern client: .*A legacy client: .*ok: both clients had the same dialogue/s)
    expect(stdout.match(/← Row 7 to Bergen at 08:25, receipt \d/g)).toEqual([
      '← Row 7 to Bergen at 08:25, receipt 1',
      '← Row 7 to Bergen at 08:25, receipt 2',
    ])
    expect(stdout).not.toContain('\u001b')
    expect(stdout).toContain(readmeTranscript())
  }, 20_000)

  it('prints the settings of hosts and keeps serving until SIGINT', async () => {
    const child = start('--port', '0')
    let stdout = ''
    const serving = new Promise<void>((resolve) => {
      child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
        stdout += chunk
        if (stdout.includes('Ctrl-C ends it')) resolve()
      })
    })
    await Promise.race([serving, once(child, 'exit')])
    const url = /Serving on (\S+);/.exec(stdout)?.[1] ?? ''
    const settings = stdout.split('\n').filter((line) => line.trim().startsWith('{'))
    expect(settings.map((line) => JSON.parse(line)).slice(0, 3)).toEqual([
      { mcpServers: { trains: { url } } },
      { servers: { trains: { type: 'http', url } } },
      { mcpServers: { trains: { serverUrl: url } } },
    ])
    expect(stdout.split('\n').filter((line) => / mcp add /.test(line))).toEqual([
      `    claude mcp add --transport http trains ${url}`,
      `    codex mcp add trains --url ${url}`,
      `    gemini mcp add --transport http trains ${url}`,
    ])
    await using client = await connect(http(url))
    expect(client.server.info?.name).toBe('trains')
    child.kill('SIGINT')
    expect((await once(child, 'exit'))[0]).toBe(0)
  }, 20_000)

  it('prints absolute paths for hosts that start the server as a child process', () => {
    const { command, args } = JSON.parse(hostsOf('http://127.0.0.1:3000/mcp').at(-1)?.instruction ?? '').mcpServers
      .trains
    expect([command, ...args].filter((each) => !isAbsolute(each))).toEqual(['--stdio'])
    expect([command, args[0]].filter((each) => !existsSync(each))).toEqual([])
  })

  it.each(hostsOf('http://127.0.0.1:3000/mcp').slice(0, -1))(
    'prints for $name what its page shows',
    ({ page, instruction }) => {
      const text = readFileSync(new URL(`../../../docs/hosts/${page}.md`, import.meta.url), 'utf8')
      const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, block = '']) => ({
        language,
        block,
      }))
      const shown = blocks.map(({ language, block }) =>
        language === 'json' ? JSON.stringify(JSON.parse(block)) : block.trim(),
      )
      expect(shown).toContain(instruction)
    },
  )

  it('starts for Claude Desktop a program with full paths, as its page shows', () => {
    const text = readFileSync(new URL('../../../docs/hosts/claude-desktop.md', import.meta.url), 'utf8')
    const [, block = ''] = /^```json\n(.*?)^```$/ms.exec(text) ?? []
    const { command, args } = JSON.parse(block).mcpServers.notes
    expect([command, ...args].every((each) => isAbsolute(each))).toBe(true)
    expect(Object.keys(JSON.parse(hostsOf('http://127.0.0.1:3000/mcp').at(-1)?.instruction ?? ''))).toEqual([
      'mcpServers',
    ])
  })

  it('has a page for each host, and no other page', () => {
    const pages = readdirSync(new URL('../../../docs/hosts', import.meta.url)).filter((name) => name !== 'README.md')
    expect(pages.sort()).toEqual(
      hostsOf('')
        .map(({ page }) => `${page}.md`)
        .sort(),
    )
  })

  it('suggests another port when its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { stderr, code } = await outcome(start('--port', `${port}`))
    other.close()
    expect(stderr).toBe(
      `Port ${port} is in use: stop the program that uses it, or choose another port: npm start -- --port ${port + 1}\n`,
    )
    expect(code).toBe(1)
  }, 20_000)

  it('lists its options when an option is unknown, and rejects an invalid port', async () => {
    const { stderr, code } = await outcome(start('--prot', '1'))
    expect(stderr).toMatch(/--prot.*npm start -- --port 4000/s)
    expect(code).toBe(1)
    expect((await outcome(start('--port', 'http'))).stderr).toBe(
      '--port: expected a number from 0 to 65535, got http\n',
    )
  }, 20_000)

  it('serves on standard input and output', async () => {
    await using client = await connect(spawnServer(process.execPath, [...flags, '--stdio']))
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(['search', 'book'])
  }, 20_000)
})
