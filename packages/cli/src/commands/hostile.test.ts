import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { folderWith, mcpx, mcpxInTerminal } from '../cli.fixture.ts'

const program = fileURLToPath(new URL('../hostile.fixture.ts', import.meta.url))
const server = (behaviour: string) => ['--', process.execPath, program, behaviour]

/** Everything that a terminal would execute, except the line breaks of our own. */
const HARMFUL = /(?!\n)[\p{Cc}\p{Bidi_Control}]/u

describe('escape sequences of a server', () => {
  it.each([
    [['list']],
    [['list', '--full']],
    [['list', '--json']],
    [['ping']],
    [['read', 'x://a']],
    [['prompt', 'p']],
    [['types']],
    [['call', 'evil']],
    [['call', 'evil', '--json']],
    [['subscribe', 'x://a\u001b[2J']],
  ])('do not reach the terminal by %j', async (args) => {
    const { stdout, stderr } = await mcpx([...args, ...server('escapes')])
    expect(stdout + stderr).not.toBe('')
    expect(stdout).not.toMatch(HARMFUL)
    expect(stderr).not.toMatch(HARMFUL)
  })

  it('are shown as text in results and errors', async () => {
    const { stdout } = await mcpx(['read', 'x://a', ...server('escapes')])
    expect(stdout).toBe('text \\x1b[2J\\x1b]0;owned\\x07\\x1b]52;c;cm0gLXJm\\x07\\x9b8m\\x0dok \\u202e\n')
    const failed = await mcpx(['call', 'work', ...server('failure')])
    expect(failed.stderr).toContain('the tool failed: failed \\x1b[2J')
    const died = await mcpx(['call', 'work', ...server('dies')])
    expect(died.stderr).toContain('out of luck \\x1b[2J')
    expect(failed.stderr + died.stderr).not.toMatch(HARMFUL)
  })

  it('are written exactly to a file by --output', async () => {
    const folder = await folderWith({})
    await mcpx(['read', 'x://a', '-o', 'text.txt', ...server('escapes')], { cwd: folder })
    const { readFile } = await import('node:fs/promises')
    expect(await readFile(`${folder}/text.txt`, 'utf8')).toContain('text \u001b[2J')
  })

  it('are not executed in a terminal', async () => {
    const terminal = await mcpxInTerminal(['list', ...server('escapes')])
    expect(await terminal.exited).toBe(0)
    const ownStyles = new RegExp(`${'\u001b'}\\[\\d+m`, 'g')
    expect(terminal.raw().replace(ownStyles, '')).not.toMatch(/(?![\r\n])[\p{Cc}\p{Bidi_Control}]/u)
  })
})

describe('a server', () => {
  it('may return 10 MB', async () => {
    const { code, stdout } = await mcpx(['call', 'work', ...server('large')])
    expect(stdout.length).toBe(10_000_001)
    expect(code).toBe(0)
  })

  it('that dies during a call is reported with its last words, and exit code 3', async () => {
    const { code, stdout, stderr } = await mcpx(['call', 'work', ...server('dies')])
    expect(stderr).toContain('exited with code 7')
    expect(stderr).toContain('out of luck')
    expect([code, stdout]).toEqual([3, ''])
  })

  it('that does not respond to a call ends the command after --timeout with exit code 6', async () => {
    const { code, stderr } = await mcpx(['call', 'work', '--timeout', '300', ...server('hangs')])
    expect(stderr).toContain('No response to tools/call')
    expect(code).toBe(6)
  })

  it.each(['silent', 'chatty'])('that never speaks the protocol is reported: %s', async (behaviour) => {
    const { code, stderr } = await mcpx(['list', '--connect-timeout', '1500', ...server(behaviour)])
    expect(stderr).toContain('No connection to')
    expect(stderr).toContain('pass a longer --connect-timeout')
    if (behaviour === 'chatty') expect(stderr).toContain('Server started!')
    expect(code).toBe(6)
  })

  it('that cannot be started is reported with exit code 3', async () => {
    const { code, stderr } = await mcpx(['list', '--', 'no-such-program-here'])
    expect(stderr).toContain('"no-such-program-here" could not be started: ENOENT')
    expect(code).toBe(3)
  })

  it('that refuses a request is reported with exit code 4', async () => {
    const { code, stderr } = await mcpx(['subscribe', 'x://a', ...server('failure')])
    expect(stderr).toMatch(/^error: The server /)
    expect(code).toBe(4)
  })

  it('is ended at Ctrl-C, with exit code 130', async () => {
    const terminal = await mcpxInTerminal(['call', 'work', '-v', ...server('hangs')])
    await terminal.waitFor('"method":"tools/call"')
    terminal.type('\u0003')
    expect(await terminal.exited).toBe(130)
  })
})
