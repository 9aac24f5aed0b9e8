import { readFile, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { folderWith, mcpx, mcpxInTerminal } from '../cli.fixture.ts'

const shop = fileURLToPath(new URL('../server.fixture.ts', import.meta.url))

describe('mcpx shell', () => {
  it('executes the lines of standard input on one connection', async () => {
    const input =
      '# a comment\n\nslow\nsearch q="red shoes" limit=1\nread shop://terms\nprompt review item=x\ncall slow\nexit\nfail\n'
    const { code, stdout, stderr } = await mcpx(['shell', shop], { input })
    expect(stdout).toBe(
      'done\n{\n  "hits": [\n    "red shoes 1 {}"\n  ]\n}\nAll sales are final.\nuser:\nReview x.\ndone\n',
    )
    expect([code, stderr]).toEqual([0, ''])
  })

  it('continues after an error, and exits with the code of the last one', async () => {
    const { code, stdout, stderr } = await mcpx(['shell', shop], { input: 'fail\nserch\nsay "open\nread\nslow\n' })
    expect(stderr).toContain('the tool failed: The shop is closed')
    expect(stderr).toContain('Did you mean "search"?')
    expect(stderr).toContain('A quote is not closed')
    expect(stderr).toContain('read: expected a URI')
    expect([code, stdout]).toEqual([2, 'done\n'])
  })

  it('completes tools, arguments and values, keeps a history, and asks in forms', async () => {
    const home = await folderWith({})
    const env = { HOME: home }
    const terminal = await mcpxInTerminal(['shell', shop], { env })
    await terminal.waitFor('shop> ')
    terminal.type('sea\t')
    await terminal.waitFor('search')
    terminal.type(' q=x exa\t')
    await terminal.waitFor('exact=')
    terminal.type('tr\t')
    await terminal.waitFor('true')
    terminal.type('\r')
    await terminal.waitFor('x 2 {\\"exact\\":true}')
    await terminal.waitFor('shop> ')
    terminal.type(' slow\r')
    await terminal.waitFor('done')
    await terminal.waitFor('shop> ')
    terminal.type('buy\r')
    await terminal.waitFor('count')
    terminal.type('\u001b')
    await terminal.waitFor('not bought: cancel')
    await terminal.waitFor('shop> ')
    terminal.type('\u0004')
    expect(await terminal.exited).toBe(0)
    const file = `${home}/.config/mcpx/history`
    // A line that begins with a space is not kept.
    expect(await readFile(file, 'utf8')).toBe('buy\nsearch q=x exact=true\n')
    expect((await stat(file)).mode & 0o777).toBe(0o600)

    const again = await mcpxInTerminal(['shell', shop], { env })
    await again.waitFor('shop> ')
    again.type('\u001b[A\u001b[A\r')
    await again.waitFor('x 2 {\\"exact\\":true}')
    again.type('\u0004')
    expect(await again.exited).toBe(0)
  })

  it('is not disturbed by what a server that works writes to standard error', async () => {
    const program = fileURLToPath(new URL('../hostile.fixture.ts', import.meta.url))
    const terminal = await mcpxInTerminal(['shell', '--', process.execPath, program, 'logs'])
    await terminal.waitFor('bad> ')
    await new Promise((resolve) => setTimeout(resolve, 6_000))
    terminal.type('exit\r')
    expect(await terminal.exited).toBe(0)
    expect(terminal.text()).not.toContain('a line of the log')
  })

  it('cancels only the call at Ctrl-C', async () => {
    const terminal = await mcpxInTerminal([
      'shell',
      '--',
      process.execPath,
      fileURLToPath(new URL('../hostile.fixture.ts', import.meta.url)),
      'hangs',
    ])
    await terminal.waitFor('bad> ')
    terminal.type('work\r')
    await new Promise((resolve) => setTimeout(resolve, 500))
    terminal.type('\u0003')
    await terminal.waitFor('bad> ')
    terminal.type('help\r')
    await terminal.waitFor('read a resource')
    await terminal.waitFor('bad> ')
    terminal.type('\u0004')
    await terminal.exited
  })
})
