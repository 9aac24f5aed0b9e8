import { spawn } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { MCPX, mcpx } from './cli.fixture.ts'

it('shows no default of an option that may be repeated', async () => {
  const { stdout } = await mcpx(['help', 'export'])
  expect(stdout).toContain('--url <url>')
  expect(stdout).not.toMatch(/\(default:\s+\[\s*\]\)/)
})

it('prints the help with all commands', async () => {
  const { code, stdout, stderr } = await mcpx([])
  expect(stdout).toContain('Usage: mcpx [options] [command]')
  expect(stdout).toContain('list ')
  expect(stdout).toContain('Exit codes: 0 success')
  expect([code, stderr]).toEqual([0, ''])
})

it.each([
  [['lst'], "error: unknown command 'lst'\nDid you mean list?\n"],
  [['list', '--tokne', 'x'], "error: unknown option '--tokne'\nDid you mean --token?\n"],
  [['list', '--timeout', 'soon'], 'error: --timeout: expected a positive number of ms, got "soon"\n'],
  [['list', 'a', 'b'], 'error: too many arguments'],
  [['list', '--'], 'error: A command is missing after "--"'],
  [['list', 'nobody'], 'error: There is no server "nobody"\nThe settings of hosts contain no servers.\n'],
  [['list', 'localhost:3000/mcp'], 'For a URL, write http://localhost:3000/mcp'],
  [['list', 'example.com/mcp'], 'For a URL, write https://example.com/mcp'],
  [['list', './server.py'], 'To start a program, write: -- python ./server.py'],
  [['list', './mcp.json'], 'write: <name> --config ./mcp.json'],
  [['list', 'http://ada:hush@127.0.0.1/mcp'], 'error: The URL contains a name or a password'],
  [['list', 'http://127.0.0.1:9/', '--token', 'hush\nx'], 'contains characters that HTTP does not allow'],
  [['list', 'http://127.0.0.1:9/', '--header', 'x: hush\u{1f511}'], 'contains characters that HTTP does not allow'],
  [['list', 'missing.ts'], 'missing.ts does not exist'],
])('refuses %j with exit code 2 and a remedy', async (args, expected) => {
  const { code, stdout, stderr } = await mcpx(args)
  expect(stderr).toContain(expected)
  expect(stderr).not.toContain('hush')
  expect([code, stdout]).toEqual([2, ''])
})

it.each([
  ['help', 'call'],
  ['call', '--help'],
])('prints the options of a command by mcpx %s %s', async (...args) => {
  const { code, stdout } = await mcpx(args)
  expect(stdout).toContain('Usage: mcpx call [options] <server> <tool> [arguments...]')
  expect(stdout).toContain('--answers <file>')
  expect(code).toBe(0)
})

it('ends without an error when the reader of its output has read enough', async () => {
  const program = fileURLToPath(new URL('./hostile.fixture.ts', import.meta.url))
  const args = [...MCPX, 'call', 'work', '--', process.execPath, program, 'large']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.once('data', () => child.stdout.destroy())
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const code = await new Promise((resolve) => child.once('exit', resolve))
  expect([code, stderr]).toEqual([0, ''])
})

it('prints errors as JSON with --json', async () => {
  const { code, json, stderr } = await mcpx(['list', 'http://127.0.0.1:9/mcp', '--json'])
  expect(json()).toMatchObject({
    error: { kind: 'connection', message: expect.stringContaining('No connection to http://127.0.0.1:9/mcp: ') },
  })
  expect([code, stderr]).toEqual([3, ''])
})
