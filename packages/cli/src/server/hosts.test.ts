import { describe, expect, it } from 'vitest'
import { HOSTS, type Machine } from './hosts.ts'

const machines: Readonly<Record<string, Machine>> = {
  macOS: { platform: 'darwin', env: {}, home: '/mac/ada', cwd: '/mac/ada' },
  Windows: {
    platform: 'win32',
    env: { APPDATA: 'D:\\Ada\\AppData\\Roaming' },
    home: 'D:\\Ada',
    cwd: 'C:\\',
  },
  Linux: { platform: 'linux', env: {}, home: '/linux/ada', cwd: '/linux/ada' },
}

const filesOn = (name: string) =>
  Object.fromEntries(HOSTS.map((host) => [host.id, host.userFile(machines[name] as Machine)]))
const host = (id: string) => HOSTS.find((each) => each.id === id) as (typeof HOSTS)[number]

describe('the settings of hosts', () => {
  it('are found on macOS', () => {
    expect(filesOn('macOS')).toEqual({
      'claude-code': '/mac/ada/.claude.json',
      'claude-desktop': '/mac/ada/Library/Application Support/Claude/claude_desktop_config.json',
      cursor: '/mac/ada/.cursor/mcp.json',
      'vs-code': '/mac/ada/Library/Application Support/Code/User/mcp.json',
      windsurf: '/mac/ada/.codeium/windsurf/mcp_config.json',
      codex: '/mac/ada/.codex/config.toml',
      gemini: '/mac/ada/.gemini/settings.json',
      goose: '/mac/ada/.config/goose/config.yaml',
    })
  })

  it('are found on Windows', () => {
    expect(filesOn('Windows')).toEqual({
      'claude-code': 'D:\\Ada\\.claude.json',
      'claude-desktop': 'D:\\Ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
      cursor: 'D:\\Ada\\.cursor\\mcp.json',
      'vs-code': 'D:\\Ada\\AppData\\Roaming\\Code\\User\\mcp.json',
      windsurf: 'D:\\Ada\\.codeium\\windsurf\\mcp_config.json',
      codex: 'D:\\Ada\\.codex\\config.toml',
      gemini: 'D:\\Ada\\.gemini\\settings.json',
      goose: 'D:\\Ada\\AppData\\Roaming\\Block\\goose\\config\\config.yaml',
    })
  })

  it('are found on Linux, also in other folders', () => {
    expect(filesOn('Linux')['claude-desktop']).toBe('/linux/ada/.config/Claude/claude_desktop_config.json')
    const env = { XDG_CONFIG_HOME: '/cfg', CODEX_HOME: '/codex' }
    const machine: Machine = { platform: 'linux', env, home: '/linux/ada', cwd: '/' }
    expect(host('vs-code').userFile(machine)).toBe('/cfg/Code/User/mcp.json')
    expect(host('codex').userFile(machine)).toBe('/codex/config.toml')
    expect(host('goose').userFile(machine)).toBe('/cfg/goose/config.yaml')
  })

  it('are read in the form of each host', () => {
    const codex = {
      docs: {
        url: 'https://x.example',
        bearer_token_env_var: 'TOKEN',
        http_headers: { A: '1' },
        env_http_headers: { B: 'VAR' },
      },
    }
    expect(host('codex').serversIn({ mcp_servers: codex }, '/')).toEqual({
      docs: { url: 'https://x.example', headers: { A: '1', B: '${VAR}', Authorization: 'Bearer ${TOKEN}' } },
    })
    const goose = {
      a: { type: 'stdio', cmd: 'npx', args: ['x'], envs: { K: 'v' }, enabled: false },
      b: { type: 'streamable_http', uri: 'https://y.example' },
      c: { type: 'builtin' },
    }
    expect(host('goose').serversIn({ extensions: goose }, '/')).toEqual({
      a: { command: 'npx', args: ['x'], env: { K: 'v' }, enabled: false },
      b: { url: 'https://y.example' },
    })
    const claude = {
      mcpServers: { one: { command: 'a' } },
      projects: { '/work': { mcpServers: { two: { command: 'b' } } }, '/other': { mcpServers: { three: {} } } },
    }
    expect(Object.keys(host('claude-code').serversIn(claude, '/work'))).toEqual(['one', 'two'])
    for (const each of HOSTS)
      expect(each.serversIn({ mcpServers: 3, servers: [], mcp_servers: 'x', extensions: null }, '/')).toEqual({})
  })
})
