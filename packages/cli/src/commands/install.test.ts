import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith, mcpx } from '../cli.fixture.ts'
import { commandFor, FORMATS, nameFor } from '../install/entries.ts'
import { HOSTS } from '../server/hosts.ts'

/** Runs `mcpx install` in a folder that is the home and the project. */
async function install(args: readonly string[], files: Readonly<Record<string, string>> = {}) {
  const home = await folderWith({ '.git/HEAD': '', ...files })
  const result = await mcpx(['install', ...args], { cwd: home, env: { HOME: home, TOKEN: 'hush' } })
  const read = (file: string) => readFile(join(home, file), 'utf8')
  return {
    ...result,
    home,
    read,
    stdout: result.stdout.replaceAll(home, '~'),
    stderr: result.stderr.replaceAll(home, '~'),
  }
}

describe('mcpx install', () => {
  it('writes a command into new settings, which only the user can read', async () => {
    const { code, stdout, read, home } = await install(['cursor', '--env', 'TOKEN', '--', 'npx', '-y', '@acme/shop@2'])
    expect([code, stdout]).toEqual([
      0,
      'Installed shop in ~/.cursor/mcp.json\nEnable the server in Cursor: Settings, MCP.\n',
    ])
    expect(await read('.cursor/mcp.json')).toBe(`{
  "mcpServers": {
    "shop": {
      "command": "npx",
      "args": [
        "-y",
        "@acme/shop@2"
      ],
      "env": {
        "TOKEN": "hush"
      }
    }
  }
}
`)
    expect((await stat(join(home, '.cursor/mcp.json'))).mode & 0o777).toBe(0o600)
  })

  it('keeps the comments and the other members of a file, and a copy of it', async () => {
    const before =
      '{\n  // mine\n  "mcpServers": {\n    "docs": { "url": "http://127.0.0.1/" }, // local\n  },\n  "theme": "dark"\n}\n'
    const { stdout, read } = await install(
      ['vs-code', 'https://mcp.acme.com/mcp', '--project', '--header', 'X-Key: a'],
      {
        '.vscode/mcp.json': before.replace('mcpServers', 'servers'),
      },
    )
    expect(stdout).toContain(
      'Installed acme in ~/.vscode/mcp.json\nThe old settings are in ~/.vscode/mcp.json.backup\n',
    )
    const after = await read('.vscode/mcp.json')
    expect(after).toContain('// mine')
    expect(after).toContain('// local')
    expect(after).toContain('"theme": "dark"')
    expect(after).toContain('"type": "http"')
    expect(after).toContain('"X-Key": "a"')
    expect(await read('.vscode/mcp.json.backup')).toBe(before.replace('mcpServers', 'servers'))
  })

  it('installs a file that exports a server, which mcpx then runs', async () => {
    const { read } = await install(['claude-desktop', 'shop.ts'], { 'shop.ts': 'export default {}' })
    const settings = JSON.parse(await read('.config/Claude/claude_desktop_config.json')) as {
      mcpServers: { shop: { command: string; args: string[] } }
    }
    const { command, args } = settings.mcpServers.shop
    expect(command).toBe(process.execPath)
    expect(args.slice(-3)).toEqual(['run', expect.stringMatching(/\/shop\.ts$/), '--stdio'])
  })

  it('writes TOML and YAML, and keeps their comments', async () => {
    const toml = '# mine\nmodel = "x"\n\n[mcp_servers.docs]\nurl = "http://127.0.0.1/"\n'
    const codex = await install(['codex', 'https://shop.example.com/mcp', '--name', 'shop'], {
      '.codex/config.toml': toml,
    })
    expect(await codex.read('.codex/config.toml')).toBe(
      `${toml}\n[mcp_servers.shop]\nurl = "https://shop.example.com/mcp"\n`,
    )
    const yaml = '# mine\nextensions:\n  memory:\n    type: builtin # kept\n'
    const goose = await install(['goose', '--', 'uvx', 'shop'], { '.config/goose/config.yaml': yaml })
    expect(await goose.read('.config/goose/config.yaml')).toBe(`${yaml}  shop:
    name: shop
    enabled: true
    timeout: 300
    type: stdio
    cmd: uvx
    args:
      - shop
`)
    const fresh = await install(['goose', '--', 'uvx', 'shop'])
    expect(await fresh.read('.config/goose/config.yaml')).toMatch(/^extensions:\n {2}shop:\n/)
  })

  it('replaces a server only by --force, and changes nothing twice', async () => {
    const files = {
      '.codex/config.toml':
        '[mcp_servers.shop]\nurl = "https://old.example.com/"\n[mcp_servers.shop.http_headers]\na = "b"\n[mcp_servers.other]\nurl = "https://other.example.com/"\n',
    }
    const url = 'https://shop.example.com/mcp'
    const refused = await install(['codex', url, '--name', 'shop'], files)
    expect([refused.code, refused.stderr]).toEqual([
      2,
      'error: ~/.codex/config.toml: there is a server "shop" already\nReplace it by --force, or choose another --name.\n',
    ])
    const forced = await install(['codex', url, '--name', 'shop', '--force'], files)
    expect(await forced.read('.codex/config.toml')).toBe(
      `[mcp_servers.other]\nurl = "https://other.example.com/"\n\n[mcp_servers.shop]\nurl = "${url}"\n`,
    )
    const again = await mcpx(['install', 'codex', url, '--name', 'shop'], {
      cwd: forced.home,
      env: { HOME: forced.home },
    })
    expect(again.stdout).toContain('shop is installed in')
    expect(await readdir(join(forced.home, '.codex'))).toEqual(['config.toml', 'config.toml.backup'])
  })

  it('keeps older copies', async () => {
    const { read } = await install(['gemini', 'https://a.example.com/'], {
      '.gemini/settings.json': '{}',
      '.gemini/settings.json.backup': 'old',
    })
    expect(await read('.gemini/settings.json.backup')).toBe('old')
    expect(await read('.gemini/settings.json.backup-2')).toBe('{}')
  })

  it('shows the settings with --dry-run, and writes nothing', async () => {
    const { stdout, home } = await install(['windsurf', 'https://shop.example.com/mcp', '--dry-run'])
    expect(stdout).toBe(`~/.codeium/windsurf/mcp_config.json would be:

{
  "mcpServers": {
    "example": {
      "serverUrl": "https://shop.example.com/mcp"
    }
  }
}
`)
    expect(await readdir(home)).toEqual(['.git'])
  })

  it('copies a server of another host by its name', async () => {
    const files = { '.cursor/mcp.json': '{"mcpServers":{"shop":{"command":"shop","args":["a b"],"env":{"A":"1"}}}}' }
    const { json, read } = await install(['claude-code', 'shop', '--project', '--json'], files)
    expect(json()).toMatchObject({ host: 'claude-code', name: 'shop', written: true })
    expect(JSON.parse(await read('.mcp.json'))).toEqual({
      mcpServers: { shop: { command: 'shop', args: ['a b'], env: { A: '1' } } },
    })
  })

  it.each([
    [['cursr', 'https://a.b/'], 'host: expected one of claude-code, claude-desktop, cursor, vs-code'],
    [
      ['claude-desktop', 'https://a.b/'],
      'claude-desktop: the settings file has no servers with a URL\nAdd the URL in the application',
    ],
    [['windsurf', 'https://a.b/', '--project'], '--project: Windsurf has no settings of a project'],
    [['cursor', 'https://a.b/', '--name', 'a b'], '--name: expected 1 to 64 letters, digits, _ and -, got "a b"'],
    [['cursor', '-'], 'install: expected a URL, a file, a name or a command, got -'],
    [['cursor'], "missing required argument 'server'"],
  ])('refuses %j', async (args, problem) => {
    const { code, stderr } = await install(args)
    expect(code).toBe(2)
    expect(stderr).toContain(problem)
  })

  it('refuses to change a broken file', async () => {
    const { code, stderr, read } = await install(['cursor', 'https://a.b/'], {
      '.cursor/mcp.json': '{ "mcpServers": {',
    })
    expect([code, await read('.cursor/mcp.json')]).toEqual([2, '{ "mcpServers": {'])
    expect(stderr).toContain('~/.cursor/mcp.json:1: CloseBraceExpected\nMend the file; it is not valid JSON.')
  })
})

it('has a format for each host', () => {
  expect(Object.keys(FORMATS).sort()).toEqual(HOSTS.map(({ id }) => id).sort())
})

it('starts scripts by cmd on Windows', () => {
  const npx = { command: 'cmd', args: ['/c', 'npx', '-y', 'shop'] }
  expect(commandFor('win32', 'npx', ['-y', 'shop'])).toEqual(npx)
  expect(commandFor('win32', 'C:\\Program Files\\nodejs\\npx.cmd', [])).toMatchObject({ command: 'cmd' })
  expect(commandFor('win32', 'C:\\Program Files\\nodejs\\node.exe', ['a b.js'])).toEqual({
    command: 'C:\\Program Files\\nodejs\\node.exe',
    args: ['a b.js'],
  })
  expect(commandFor('linux', 'npx', ['-y', 'shop'])).toEqual({ command: 'npx', args: ['-y', 'shop'] })
})

it.each([
  [['npx', '-y', '@acme/shop@2.1.0'], 'shop'],
  [['uvx', 'mcp-server-git', '--repository', '.'], 'mcp-server-git'],
  [['C:\\Program Files\\nodejs\\node.exe', 'C:\\tools\\shop.mjs'], 'shop'],
  [['D:/tools/my shop.ts'], 'my-shop'],
  [['node'], 'node'],
])('names the server of %j', (words, name) => {
  expect(nameFor(undefined, { kind: 'command', command: '', args: [], env: {} }, words)).toBe(name)
})
