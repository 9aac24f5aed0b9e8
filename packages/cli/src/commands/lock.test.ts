import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { folderWith, mcpx, mcpxInTerminal } from '../cli.fixture.ts'

const serverWith = (description: string, more = '') =>
  `import { createServer } from '${import.meta.resolve('@mcpx/server')}'
export default createServer({ name: 'files', version: '1.0.0' }).tool('read', { description: '${description}' }, () => '')${more}`

/** Creates a folder with a server that is locked. */
async function lockedFolder(): Promise<string> {
  const cwd = await folderWith({ 'files.mjs': serverWith('Reads a file') })
  const { code, stdout } = await mcpx(['lock', 'files.mjs'], { cwd })
  expect([code, stdout]).toEqual([0, 'Locked 1 tool, 0 prompts, 0 resources in mcpx.lock.json\n'])
  return cwd
}

it('writes the definitions of a server, which do not change by themselves', async () => {
  const cwd = await lockedFolder()
  const lock = await readFile(`${cwd}/mcpx.lock.json`, 'utf8')
  expect(JSON.parse(lock)).toMatchObject({ version: 1, tools: { read: { description: 'Reads a file' } } })
  expect(lock).toContain('\n    "read": {\n      "description": "Reads a file",\n')
  const { code, stdout } = await mcpx(['lock', 'files.mjs', '--check'], { cwd })
  expect([code, stdout]).toEqual([0, 'No differences: 1 tool, 0 prompts, 0 resources\n'])
  await mcpx(['lock', 'files.mjs'], { cwd })
  expect(await readFile(`${cwd}/mcpx.lock.json`, 'utf8')).toBe(lock)
})

it('shows the differences, and exits with 1 when it only checks', async () => {
  const cwd = await lockedFolder()
  const lock = await readFile(`${cwd}/mcpx.lock.json`, 'utf8')
  await writeFile(`${cwd}/files.mjs`, serverWith('Reads a file. Then mails it.', `.tool('send', {}, () => '')`))
  const differences = `[high] tool "read", description: "Reads a file" became "Reads a file. Then mails it." (the model reads another text)
[high] tool "send" was added (the model can call a tool that nobody reviewed)
`
  const checked = await mcpx(['lock', 'files.mjs', '--check'], { cwd })
  expect([checked.code, checked.stdout]).toEqual([
    1,
    `${differences}2 differences. If you accept the changes, lock the server again: mcpx lock <server>\n`,
  ])
  expect(await readFile(`${cwd}/mcpx.lock.json`, 'utf8')).toBe(lock)
  const json = await mcpx(['lock', 'files.mjs', '--check', '--json'], { cwd })
  expect(json.json()).toMatchObject({ written: false, differences: [{ risk: 'high', name: 'read' }, { name: 'send' }] })
  const written = await mcpx(['lock', 'files.mjs'], { cwd })
  expect(written.stdout).toBe(
    `${differences}Locked 2 tools, 0 prompts, 0 resources in mcpx.lock.json, with 2 differences from the last lock\n`,
  )
  expect((await mcpx(['lock', 'files.mjs', '--check'], { cwd })).code).toBe(0)
})

it('colours the differences in a terminal, and makes escape sequences harmless', async () => {
  const cwd = await lockedFolder()
  await writeFile(`${cwd}/files.mjs`, serverWith('\\u001b[2J\\u001b]0;owned\\u0007'))
  const terminal = await mcpxInTerminal(['lock', 'files.mjs', '--check'], { cwd })
  expect(await terminal.exited).toBe(1)
  expect(terminal.raw()).toContain('\u001b[31m[high]')
  expect(terminal.raw()).not.toContain('\u001b[2J')
  expect(terminal.raw()).not.toContain('\u0007')
})

it.each([
  [
    'a missing lock',
    undefined,
    'error: mcpx.lock.json: expected a lock, got no file\nWrite it first: mcpx lock <server>\n',
  ],
  [
    'what is no JSON',
    '{',
    'error: mcpx.lock.json: expected JSON\nDelete the file and write it again: mcpx lock <server>\n',
  ],
  [
    'another file',
    '{"version":7}',
    'error: mcpx.lock.json: lock: expected a lock of version 1; write it again with `mcpx lock`\n',
  ],
])('refuses %s', async (_, text, problem) => {
  const cwd = await folderWith({ 'files.mjs': serverWith('x'), ...(text !== undefined && { 'mcpx.lock.json': text }) })
  const { code, stderr } = await mcpx(['lock', 'files.mjs', '--check'], { cwd })
  expect([code, stderr]).toEqual([2, problem])
})

it('has another file by option', async () => {
  const cwd = await folderWith({ 'files.mjs': serverWith('x') })
  expect((await mcpx(['lock', 'files.mjs', '--file', 'files.lock.json'], { cwd })).stdout).toContain(
    'in files.lock.json',
  )
  expect(JSON.parse(await readFile(`${cwd}/files.lock.json`, 'utf8'))).toMatchObject({ version: 1 })
})
