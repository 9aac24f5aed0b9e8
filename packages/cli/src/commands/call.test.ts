import { chmod, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { folderWith, mcpx, mcpxInTerminal } from '../cli.fixture.ts'

const shop = fileURLToPath(new URL('../server.fixture.ts', import.meta.url))
const everything = [
  process.execPath,
  createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js'),
]

describe('mcpx call', () => {
  it('converts the arguments by the schema, and prints structured content once', async () => {
    const args = ['q=red shoes', 'limit=3', 'tags=new', 'tags=sale', 'exact=true', 'price.max=99']
    const { code, stdout, stderr } = await mcpx(['call', shop, 'search', ...args])
    expect(JSON.parse(stdout)).toEqual({
      hits: ['red shoes 3 {"tags":["new","sale"],"exact":true,"price":{"max":99}}'],
    })
    expect([code, stderr]).toEqual([0, ''])
  })

  it('accepts JSON, a file of JSON, and JSON on standard input, which key=value overrides', async () => {
    const folder = await folderWith({ 'args.json': '{ "q": "file", "limit": 1 }' })
    const call = (...args: string[]) => mcpx(['call', shop, 'search', ...args], { cwd: folder, input: '{"q":"stdin"}' })
    expect((await call('--args', '{"q":"text"}')).stdout).toContain('text 2 {}')
    expect((await call('--args', '@args.json', 'q=mine')).stdout).toContain('mine 1 {}')
    expect((await call('-')).stdout).toContain('stdin 2 {}')
    expect(await call('--args', '[1]')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expected an object'),
    })
    expect(await call('--args', '@gone.json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('gone.json cannot be read: ENOENT'),
    })
    expect(await call('--args', '{')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--args: expected JSON'),
    })
  })

  it('suggests near names of tools and arguments, and shows the signature', async () => {
    const tool = await mcpx(['call', shop, 'serch'])
    expect([tool.code, tool.stderr]).toEqual([2, 'error: There is no tool "serch"\nDid you mean "search"?\n'])
    const argument = await mcpx(['call', shop, 'search', 'q=x', 'limt=3'])
    expect(argument.code).toBe(2)
    expect(argument.stderr).toContain(
      'search: there is no argument "limt"\nDid you mean limit?\nsearch(q: string, limit?: number',
    )
    const missing = await mcpx(['call', shop, 'search'])
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringContaining('search: missing the argument q\nsearch(q: string'),
    ])
  })

  it('prints the text of a tool that failed to standard error, with exit code 1', async () => {
    const { code, stdout, stderr } = await mcpx(['call', shop, 'fail'])
    expect([code, stdout, stderr]).toEqual([1, '', 'the tool failed: The shop is closed\n'])
    const json = await mcpx(['call', shop, 'fail', '--json'])
    expect([json.code, json.stderr]).toEqual([1, ''])
    expect(json.json()).toMatchObject({ isError: true, content: [{ type: 'text', text: 'The shop is closed' }] })
  })

  it('keeps what a server in a file logs out of its output', async () => {
    const source = `console.log('starting'); process.stdout.write('up\\n'); export { server as default } from ${JSON.stringify(shop)}`
    const folder = await folderWith({ 'noisy.ts': source })
    const { stdout, stderr } = await mcpx(['call', `${folder}/noisy.ts`, 'slow', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ content: [{ text: 'done' }] })
    expect(stderr).toBe('starting\nup\n')
  })

  it('shows messages with --verbose and MCPX_DEBUG', async () => {
    const verbose = await mcpx(['call', shop, 'slow', '--verbose'])
    expect(verbose.stderr).toContain('mcpx client -> {"jsonrpc":"2.0"')
    const debug = await mcpx(['call', shop, 'slow'], { env: { MCPX_DEBUG: '1' } })
    expect(debug.stderr).toContain('mcpx client -> ')
  })
})

describe('the progress of a call', () => {
  it('is a bar in a terminal, which is removed at the end', async () => {
    const terminal = await mcpxInTerminal(['call', shop, 'slow'])
    await terminal.waitFor('████████████████░░░░░░░░ 2/3 step 2')
    expect(await terminal.exited).toBe(0)
    expect(terminal.raw().endsWith('\r\u001b[2Kdone\r\n')).toBe(true)
  })

  it('is not printed without a terminal', async () => {
    expect(await mcpx(['call', shop, 'slow'])).toMatchObject({ stdout: 'done\n', stderr: '' })
  })
})

describe('an image', () => {
  it('is written to a file, whose path is printed', async () => {
    const { stdout } = await mcpx(['call', shop, 'picture'])
    const [, path = ''] = /^image\/png, 16 bytes: (.*)\n$/.exec(stdout) ?? []
    expect(await readFile(path, 'utf8')).toBe('not really a png')
  })

  it('is written to the file of --output, or to standard output with -', async () => {
    const folder = await folderWith({})
    const { stdout, stderr } = await mcpx(['call', shop, 'picture', '-o', 'a.png'], { cwd: folder })
    expect([stdout, stderr]).toEqual(['', `${folder}/a.png: 16 bytes\n`])
    expect(await readFile(`${folder}/a.png`, 'utf8')).toBe('not really a png')
    expect((await mcpx(['call', shop, 'picture', '-o', '-'])).stdout).toBe('not really a png')
    const wrong = await mcpx(['call', shop, 'picture', '-o', 'no/such/folder/a.png'])
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be written: ENOENT') })
  })

  it.each([
    [{ TERM: 'xterm-kitty' }, '\u001b_Ga=T,f=100,m=0;bm90IHJlYWxseSBhIHBuZw==\u001b\\'],
    [{ TERM_PROGRAM: 'iTerm.app' }, '\u001b]1337;File=inline=1;size=16:bm90IHJlYWxseSBhIHBuZw==\u0007'],
  ])('is shown in a terminal that can: %j', async (env, expected) => {
    const terminal = await mcpxInTerminal(['call', shop, 'picture'], { env })
    expect(await terminal.exited).toBe(0)
    expect(terminal.raw()).toContain(expected)
  })
})

describe('an elicitation', () => {
  it('is a form in the terminal', async () => {
    const terminal = await mcpxInTerminal(['call', shop, 'buy'])
    await terminal.waitFor('The shop asks: How many?')
    await terminal.waitFor('count')
    terminal.type('99\r')
    await terminal.waitFor('at most 9')
    terminal.type('\u007f\u007f3\r')
    await terminal.waitFor('size')
    await terminal.waitFor('large')
    terminal.type('\u001b[B\r')
    await terminal.waitFor('gift (optional)')
    terminal.type('y')
    await terminal.waitFor('Send this answer?')
    terminal.type('y')
    expect(await terminal.exited).toBe(0)
    expect(terminal.text()).toContain('bought {"count":3,"size":"large","gift":true}')
  })

  it('can be cancelled', async () => {
    const terminal = await mcpxInTerminal(['call', shop, 'buy'])
    await terminal.waitFor('count')
    terminal.type('\u001b')
    expect(await terminal.exited).toBe(0)
    expect(terminal.text()).toContain('not bought: cancel')
  })

  it('is declined with a note without a terminal', async () => {
    const { code, stdout, stderr } = await mcpx(['call', shop, 'buy'])
    expect(stdout).toBe('not bought: decline\n')
    expect(stderr).toBe(
      'The server asks: How many?\nThis was declined, because there is no terminal. Answer with --answers <file>.\n',
    )
    expect(code).toBe(0)
  })

  it('shows a URL, and opens it only with consent', async () => {
    const home = await folderWith({})
    const script = `#!/bin/sh\nprintf '%s' "$1" > '${home}/opened'\n`
    const bin = await folderWith({ 'xdg-open': script, open: script })
    for (const name of ['xdg-open', 'open']) await chmod(`${bin}/${name}`, 0o755)
    const env = { PATH: `${bin}:${process.env.PATH}`, DISPLAY: ':0' }
    const opened = () => readFile(`${home}/opened`, 'utf8').catch(() => undefined)
    for (const [key, outcome, url] of [
      ['\r', 'paid: decline', undefined],
      ['y', 'paid: accept', 'https://pay.example/now?id=1'],
    ] as const) {
      const terminal = await mcpxInTerminal(['call', shop, 'pay'], { env })
      await terminal.waitFor('https://pay.example/now?id=1')
      await terminal.waitFor('Open pay.example in your browser?')
      terminal.type(key)
      expect(await terminal.exited).toBe(0)
      expect(terminal.text()).toContain(outcome)
      expect(await opened()).toBe(url)
    }
    expect((await mcpx(['call', shop, 'pay'])).stdout).toBe('paid: decline\n')
  })

  it('is answered from a file', async () => {
    const folder = await folderWith({
      'one.json': '{ "count": 2, "other": true }',
      'list.json': '[{ "action": "decline" }]',
      'bad.json': '{ "count": 99 }',
      'none.json': '3',
    })
    const call = (file: string) => mcpx(['call', shop, 'buy', '--answers', file], { cwd: folder })
    expect((await call('one.json')).stdout).toBe('bought {"count":2,"size":"small"}\n')
    expect((await call('list.json')).stdout).toBe('not bought: decline\n')
    expect(await call('bad.json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--answers.count: expected at most 9'),
    })
    expect(await call('none.json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expected an object or an array'),
    })
    expect(await call('gone.json')).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be read') })
  })
})

describe('a server of others, started by a command', () => {
  it('is called', async () => {
    const echo = await mcpx(['call', 'echo', 'message=hi there', '--', ...everything])
    expect(echo).toMatchObject({ code: 0, stdout: 'Echo: hi there\n', stderr: '' })
    const sum = await mcpx(['call', 'get-sum', 'a=2', 'b=3', '--json', '--', ...everything])
    expect(sum.json()).toEqual({ content: [{ type: 'text', text: 'The sum of 2 and 3 is 5.' }] })
  })

  it('gets the variables of --env, and few others', async () => {
    const env = { GREETING: 'hello', SECRET: 'hush' }
    const { stdout } = await mcpx(['call', 'get-env', '--env', 'GREETING', '--env', 'OTHER=x=y', '--', ...everything], {
      env,
    })
    expect(stdout).toContain('"GREETING": "hello"')
    expect(stdout).toContain('"OTHER": "x=y"')
    expect(stdout).not.toContain('hush')
  })
})
