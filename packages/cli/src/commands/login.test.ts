import { readFile, stat } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { mcpx, mcpxInTerminal } from '../cli.fixture.ts'
import { desktop, protectedShop } from './login.fixture.ts'

it('logs in by the browser once, keeps the tokens for later commands, and deletes them', async () => {
  const url = await protectedShop()
  const env = await desktop()
  const login = await mcpxInTerminal(['login', url], { env })
  expect(await login.exited, login.text()).toBe(0)
  expect(login.text()).toContain(`${url} accepts your requests.`)

  const file = `${env.HOME}/.config/mcpx/tokens.json`
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const call = () => mcpx(['call', url, 'slow'], { env })
  expect(await call()).toMatchObject({ code: 0, stdout: 'done\n', stderr: '' })

  expect(await mcpx(['logout', url], { env })).toMatchObject({
    code: 0,
    stdout: `The tokens of ${url} were deleted.\n`,
  })
  expect(await readFile(file, 'utf8')).not.toContain('access_token')
  expect(await call()).toMatchObject({ code: 5, stdout: '' })
})

it('logs in when a call needs it', async () => {
  const terminal = await mcpxInTerminal(['call', await protectedShop(), 'slow'], { env: await desktop() })
  expect(await terminal.exited, terminal.text()).toBe(0)
  expect(terminal.text()).toContain('done')
})

it('never opens a browser without a terminal or with --no-login: exit code 5 and the remedy', async () => {
  const url = await protectedShop()
  const env = await desktop()
  const piped = await mcpx(['call', url, 'slow'], { env })
  expect(piped).toMatchObject({ code: 5, stdout: '', stderr: expect.stringContaining(`mcpx login ${url}`) })
  const refused = await mcpxInTerminal(['call', url, 'slow', '--no-login'], { env })
  expect(await refused.exited).toBe(5)
  const wrong = await mcpx(['call', url, 'slow', '--token', 'wrong'], { env })
  expect(wrong).toMatchObject({ code: 5, stdout: '' })
  expect(wrong.stderr).not.toContain('wrong"')
  expect(await mcpx(['login', url], { env })).toMatchObject({ code: 2, stderr: expect.stringContaining('MCPX_TOKEN') })
  expect(await mcpx(['logout', 'shop'], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('expected the http or https URL of a server, got'),
  })
})
