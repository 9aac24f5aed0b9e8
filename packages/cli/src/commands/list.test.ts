import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { folderWith, mcpx, mcpxInTerminal } from '../cli.fixture.ts'

const shop = fileURLToPath(new URL('../server.fixture.ts', import.meta.url))

describe('mcpx list <server>', () => {
  it('prints tools as signatures, and resources and prompts', async () => {
    const { code, stdout, stderr } = await mcpx(['list', shop])
    expect(stderr).toBe('')
    expect(stdout).toBe(`The shop 1.2.3 2026-07-28

Tools (6)
  search(q: string, limit?: number, tags?: string[], exact?: boolean, price?: { min?: number; max?: number }): { hits: string[] }
    Search the shop.
  fail()
    Always fails.
  picture()
  slow()
  buy()
    Asks how many.
  pay()
    Sends you to a page.

Resources (1)
  shop://terms text/plain
    Terms

Resource templates (1)
  shop://item/{id}
    One item

Prompts (1)
  review(item, tone?)
    Review an item
`)
    expect(code).toBe(0)
  })

  it('prints whole descriptions and types with --full', async () => {
    const { stdout } = await mcpx(['list', shop, '--full'])
    expect(stdout).toContain('The shop 1.2.3 2026-07-28\n    Search before you buy.\n')
    expect(stdout).toContain(
      `
    Search the shop.

    Returns the best hits first.
    input: {
      /** words to look for */
      q: string
      limit?: number
`,
    )
    expect(stdout).toContain('    output: {\n      hits: string[]\n    }\n')
  })

  it('prints the definitions of the server with --json', async () => {
    const { code, json } = await mcpx(['list', shop, '--json'])
    const { server, revision, tools, prompts } = json<Record<string, { name: string }[]>>()
    expect(server).toMatchObject({ name: 'shop', version: '1.2.3' })
    expect(revision).toBe('2026-07-28')
    expect(tools?.map(({ name }) => name)).toEqual(['search', 'fail', 'picture', 'slow', 'buy', 'pay'])
    expect(prompts).toHaveLength(1)
    expect(code).toBe(0)
  })

  it('has colours in a terminal, unless NO_COLOR is set', async () => {
    const terminal = await mcpxInTerminal(['list', shop])
    expect(await terminal.exited).toBe(0)
    expect(terminal.raw()).toContain('\u001b[1msearch\u001b[22m(')
    const plain = await mcpxInTerminal(['list', shop], { env: { NO_COLOR: '1' } })
    expect(await plain.exited).toBe(0)
    expect(plain.raw()).toContain('search(q: string')
  })
})

describe('mcpx list', () => {
  it('lists the servers in the settings of hosts, without their secrets', async () => {
    const home = await folderWith({
      '.cursor/mcp.json':
        '{ // with a comment\n "mcpServers": { "shop": { "command": "node", "args": ["--key=hush"], }, "off": { "url": "http://127.0.0.1/", "disabled": true } } }',
      '.codex/config.toml': '[mcp_servers.docs]\nurl = "https://example.com/mcp"\nbearer_token_env_var = "TOKEN"\n',
      '.config/goose/config.yaml':
        'extensions:\n  memory: { type: stdio, cmd: npx, args: [memory], enabled: true }\n  inner: { type: builtin }\n',
      'project/.mcp.json': '{ "mcpServers": { "local": { "command": "deno" } } }',
    })
    const { code, stdout, stderr } = await mcpx(['list'], { env: { HOME: home }, cwd: `${home}/project` })
    expect(stderr).toBe('')
    expect(stdout.replaceAll(home, '~')).toBe(`claude-code ~/project/.mcp.json
  local  deno

cursor ~/.cursor/mcp.json
  shop  node
  off (disabled)  http://127.0.0.1/

codex ~/.codex/config.toml
  docs  https://example.com/mcp

goose ~/.config/goose/config.yaml
  memory  npx
`)
    expect(code).toBe(0)
  })

  it('names a settings file that is not valid, with the line, and lists the others', async () => {
    const home = await folderWith({
      '.cursor/mcp.json': '{\n "mcpServers": hush',
      '.codex/config.toml': '[mcp_servers.a]\ncommand = "x"\n',
    })
    const { code, stdout, stderr } = await mcpx(['list', '--json'], { env: { HOME: home } })
    expect(stderr).toContain(`${home}/.cursor/mcp.json:2: InvalidSymbol`)
    expect(stderr).not.toContain('hush')
    expect(JSON.parse(stdout).servers).toMatchObject([{ name: 'a', host: 'codex', command: 'x', enabled: true }])
    expect(code).toBe(0)
  })
})
