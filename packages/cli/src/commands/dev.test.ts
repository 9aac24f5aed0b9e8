import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import type { Change } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { folderWith, mcpx, mcpxInTerminal } from '../cli.fixture.ts'
import { echoSource, isRunning, readProcesses, startDev, textOf } from '../dev/dev.fixture.ts'

const SETUPS = (['stdio', 'http'] as const).flatMap((transport) =>
  (['modern', 'legacy'] as const).map((era) => [transport, era] as const),
)

describe.each(SETUPS)('mcpx dev over %s, %s', (transport, era) => {
  it('replaces the server at a save, and keeps the connection of the client', async () => {
    const changes: Change[] = []
    const { client, replace } = await startDev({ transport, era, onChange: (change) => void changes.push(change) })
    expect(client.server.info).toEqual({ name: 'echo', version: 'one' })
    expect(await textOf(client.callTool('version'))).toBe('one')
    await client.subscribe('echo://state')
    changes.length = 0
    await replace('two', ".tool('added', {}, () => 'new')")
    expect(await textOf(client.callTool('version'))).toBe('two')
    expect(await textOf(client.callTool('added'))).toBe('new')
    expect((await client.listTools().all()).map(({ name }) => name)).toContain('added')
    await expect
      .poll(() => changes)
      .toEqual(
        expect.arrayContaining([
          { kind: 'tools' },
          { kind: 'prompts' },
          { kind: 'resources' },
          { kind: 'resource', uri: 'echo://state' },
        ]),
      )
    changes.length = 0
    await client.callTool('touch')
    await expect.poll(() => changes).toEqual([{ kind: 'resource', uri: 'echo://state' }])
    await client.unsubscribe('echo://state')
  })

  it('passes on everything between a server and its client', async () => {
    const logs: unknown[] = []
    const progress: unknown[] = []
    const changes: Change[] = []
    const { client } = await startDev({
      transport,
      era,
      onElicit: ({ mode }) =>
        mode === 'form' ? { action: 'accept', content: { name: 'Ada' } } : { action: 'decline' },
      onSample: () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'ha' } }),
      roots: [{ uri: 'file:///work' }],
      logLevel: 'debug',
      onLog: ({ data }) => void logs.push(data),
      onChange: (change) => void changes.push(change),
    })
    expect(await textOf(client.callTool('form'))).toBe('one one Ada')
    expect(await textOf(client.callTool('page'))).toBe('decline')
    expect(await textOf(client.callTool('model'))).toBe('{"type":"text","text":"ha"}')
    expect(await textOf(client.callTool('folders'))).toContain('file:///work')
    await client.callTool('steps', {}, { onProgress: (step) => void progress.push(step) })
    await expect.poll(() => logs).toEqual(['half done'])
    expect(progress).toEqual([
      { progress: 1, total: 2, message: 'half' },
      { progress: 2, total: 2 },
    ])
    await client.subscribe('echo://cancelled')
    const stop = new AbortController()
    const waiting = client.callTool('wait', {}, { signal: stop.signal })
    await pause(200)
    changes.length = 0
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow()
    await expect.poll(() => changes).toEqual([{ kind: 'resource', uri: 'echo://cancelled' }])
    expect((await client.getPrompt('greet', { name: 'Ada' })).messages[0]?.content).toMatchObject({
      text: 'Greet Ada (one).',
    })
    expect((await client.readResource('echo://state')).contents[0]).toMatchObject({ text: 'one' })
  })

  it('forwards the methods of extensions', async () => {
    const { client } = await startDev({ transport, era })
    expect(client.server.capabilities.extensions).toEqual({ 'com.example/echo': { loud: true } })
    const options = { meta: { 'com.example/trace': 1 } }
    expect(await client.request('com.example/echo', { text: 'hi' }, options)).toMatchObject({ text: 'hi', trace: 1 })
    await expect(client.request('com.example/echo', { text: 1 })).rejects.toThrow('params.text')
    await expect(client.request('com.example/other', {})).rejects.toThrow('com.example/other')
  })

  it('finishes calls in the server that was replaced', async () => {
    const { client, replace } = await startDev({ transport, era })
    const slow = textOf(client.callTool('slow', { time: 2_500 }))
    await pause(200)
    await replace('two')
    expect(await textOf(client.callTool('version'))).toBe('two')
    expect(await slow).toBe('one')
  })

  it('continues a call whose question is open in the server that asked', async () => {
    let answer: () => void = () => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    let isAsked: () => void = () => {}
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve
    })
    const { client, replace } = await startDev({
      transport,
      era,
      async onElicit() {
        isAsked()
        await answered
        return { action: 'accept', content: { name: 'Ada' } }
      },
    })
    const form = textOf(client.callTool('form'))
    await asked
    await replace('two')
    answer()
    expect(await form).toBe('one one Ada')
  })
})

describe('mcpx dev', () => {
  it('names calls that it had to end, and says whether repeating them is safe', async () => {
    const { client, replace } = await startDev({ args: ['--drain', '100'] })
    const slow = client.callTool('slow', { time: 60_000 })
    const read = client.callTool('slow-read')
    const results = Promise.allSettled([slow, read])
    await pause(200)
    await replace('two')
    const [ended, safe] = await results
    expect(ended).toMatchObject({
      reason: {
        name: 'RpcError',
        message: expect.stringMatching(/did not finish within 100 ms \(--drain\)\. It may have had effects/),
        data: { reason: 'server-process-ended', retryable: false },
      },
    })
    expect(safe).toMatchObject({
      reason: { message: expect.stringContaining('safe to repeat'), data: { retryable: true } },
    })
  })

  it('starts a server again that has crashed', async () => {
    const { client, waitFor } = await startDev()
    await expect(client.callTool('crash')).rejects.toThrow(
      'The server process exited while the request ran. It may have had effects',
    )
    expect(await textOf(client.callTool('version'))).toBe('one')
    await waitFor('server.ts exited with code 7; it is started again')
  })

  it.each([
    ['a syntax error', 'export const b = {\n  a: 1,,\n}', 'dep.mjs:2'],
    ['an error at the import', "export const b = 1\nthrow new Error('at import')", 'dep.mjs:2'],
    ['a missing file', "import './gone.mjs'", 'gone.mjs'],
  ])('keeps the server before %s, and shows the place', async (_, source, place) => {
    const files = { 'dep.mjs': 'export const b = 1', 'server.ts': `import './dep.mjs'\n${echoSource('one')}` }
    const { client, save, waitFor, folder, stderr } = await startDev({ files })
    await save(source, 'dep.mjs')
    await waitFor('cannot be loaded: ')
    await waitFor(`${folder}/${place}`)
    await waitFor('server.ts did not start. The previous version of the server continues.')
    expect(await textOf(client.callTool('version'))).toBe('one')
    expect(stderr().split('cannot be loaded')).toHaveLength(2)
    await save('export const b = 2', 'dep.mjs')
    await waitFor('started in')
    expect(stderr()).not.toContain('\0')
  })

  it('serves before the first start has succeeded, and explains why it cannot answer', async () => {
    const { client, replace } = await startDev({
      files: { 'server.ts': 'export const server = {{' },
      isBroken: true,
    })
    expect(client.server.info).toEqual({ name: 'server.ts', version: '0.0.0' })
    await expect(client.callTool('version')).rejects.toThrow(/does not run\. .*server\.ts cannot be loaded: /)
    await replace('one')
    expect(await textOf(client.callTool('version'))).toBe('one')
    expect((await client.discover()).instructions).toBe('The instructions of one.')
    await replace('two')
    expect(await client.discover()).toMatchObject({
      info: { name: 'echo', version: 'two' },
      instructions: 'The instructions of two.',
    })
  })

  it('watches the files that are imported and those of --watch, and no others', async () => {
    const files = {
      'server.ts': `import { version } from './lib/version.ts'\n${echoSource('one').replace("'one'", 'version')}`,
      'lib/version.ts': "export const version: string = 'one'",
      'other.ts': '',
      'data/list.txt': '',
    }
    const { client, save, waitFor, stderr } = await startDev({ files, args: ['--watch', 'FOLDER/data'] })
    await save("export const version: string = 'two'", 'lib/version.ts')
    await waitFor('started in')
    expect(await textOf(client.callTool('version'))).toBe('two')
    const before = stderr()
    await save('changed', 'other.ts')
    await pause(500)
    expect(stderr()).toBe(before)
    await save('changed', 'data/list.txt')
    await waitFor('started in')
  })

  it('serves a server that was written with another SDK, and starts itself', async () => {
    const source = (name: string) => `
import { McpServer } from '${import.meta.resolve('@modelcontextprotocol/sdk/server/mcp.js')}'
import { StdioServerTransport } from '${import.meta.resolve('@modelcontextprotocol/sdk/server/stdio.js')}'
const server = new McpServer({ name: 'official', version: '1.0.0' })
server.registerTool('${name}', {}, async () => {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
  const { content } = await server.server.elicitInput({ message: 'Who?', requestedSchema })
  return { content: [{ type: 'text', text: '${name} ' + content?.name }] }
})
await server.connect(new StdioServerTransport())
`
    const dev = await startDev({
      files: { 'server.ts': source('first') },
      onElicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
    })
    expect(await textOf(dev.client.callTool('first'))).toBe('first Ada')
    await dev.save(source('second'))
    await dev.waitFor('started in')
    expect(await textOf(dev.client.callTool('second'))).toBe('second Ada')
  })

  it('notices files that editors replace, delete and write again', async () => {
    const { client, folder, save, waitFor } = await startDev()
    await save(echoSource('two'), '.server.ts.swp')
    await rename(`${folder}/.server.ts.swp`, `${folder}/server.ts`)
    await waitFor('started in')
    expect(await textOf(client.callTool('version'))).toBe('two')
    await rm(`${folder}/server.ts`)
    await waitFor('did not start')
    await save(echoSource('three'))
    await waitFor('started in')
    expect(await textOf(client.callTool('version'))).toBe('three')
  })

  it.each(['removes', 'renames'])(
    'notices saves after a build that %s its folder and creates it again',
    async (way) => {
      const { client, folder, save, waitFor } = await startDev({ files: { 'dist/server.ts': echoSource('two') } })
      await save("export { server } from './dist/server.ts'\n")
      await waitFor('started in')
      await expect.poll(() => textOf(client.callTool('version'))).toBe('two')
      if (way === 'renames') await rename(`${folder}/dist`, `${folder}/old`)
      else {
        await rm(`${folder}/dist`, { recursive: true })
        await waitFor('did not start')
      }
      await mkdir(`${folder}/dist`)
      for (const version of ['three', 'four']) {
        await save(echoSource(version), 'dist/server.ts')
        await expect.poll(() => textOf(client.callTool('version')), { timeout: 10_000 }).toBe(version)
      }
    },
  )

  it('replaces a server that waits for something while it is loaded', async () => {
    const { client, save, waitFor } = await startDev()
    await save('await new Promise((resolve) => setTimeout(resolve, 60_000))')
    await pause(1_000)
    await save(echoSource('two'))
    await waitFor('started in')
    expect(await textOf(client.callTool('version'))).toBe('two')
  })

  it('starts a server that keeps exiting ever more slowly', { timeout: 60_000 }, async () => {
    const { stderr, save } = await startDev()
    // A process that exits before it is connected has not started, and is not started again.
    await save(echoSource('two', '; setTimeout(() => process.exit(7), 1_000)'))
    const exits = () => stderr().split('exited with code 7').length - 1
    await expect.poll(exits, { timeout: 40_000 }).toBeGreaterThan(2)
    // The next delays are 0.5, 1 and 2 s.
    const before = exits()
    await pause(3_000)
    expect(exits() - before).toBeLessThan(4)
  })

  it('ends the oldest of many servers that still have calls', async () => {
    const dev = await startDev()
    const calls = []
    for (const version of ['two', 'three', 'four', 'five', 'six']) {
      calls.push(textOf(dev.client.callTool('slow-read')).catch((error: Error) => error.message))
      await pause(100)
      await dev.replace(version)
    }
    expect(await Promise.race(calls)).toContain(
      'replaced so often that it had to be ended before the request finished. It is safe to repeat it.',
    )
  })

  it('declares extensions only to clients of revisions that have them', async () => {
    const { client } = await startDev({ era: '2025-06-18' })
    expect(client.revision).toBe('2025-06-18')
    expect(client.server).toMatchObject({ instructions: 'The instructions of one.', info: { name: 'echo' } })
    expect(client.server.capabilities).not.toHaveProperty('extensions')
  })

  it('serves the page of mcpx inspect beside the pipe, which stays connected', async () => {
    const dev = await startDev({ args: ['--inspect', '--no-open'] })
    await expect.poll(dev.stderr).toMatch(/Inspecting at http:\/\/127\.0\.0\.1:\d+\/\S+/)
    const [, url] = /Inspecting at (\S+)/.exec(dev.stderr()) ?? []
    const events = (await fetch(`${url}events`)).body?.pipeThrough(new TextDecoderStream()).getReader()
    let seen = ''
    const readUntil = async (text: string) => {
      while (!seen.includes(text)) seen += (await events?.read())?.value ?? ''
    }
    await readUntil('"status":"connected"')
    expect(seen).toContain('"version":"one"')
    seen = ''
    await dev.replace('two')
    await readUntil('list_changed')
    await events?.cancel()
    await dev.client.close()
    await expect(fetch(`${url}events`)).rejects.toThrow()
  })

  it('ends everything when the host closes the pipe', async () => {
    const { client } = await startDev()
    const processes = await readProcesses(client)
    expect(processes.map(isRunning)).toEqual([true, true])
    await client.close()
    await expect.poll(() => processes.map(isRunning)).toEqual([false, false])
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('leaves no process behind after %s', async (signal) => {
    const { client } = await startDev({ transport: 'http' })
    const processes = await readProcesses(client)
    const slow = client.callTool('slow', { time: 60_000 })
    const failed = expect(slow).rejects.toThrow()
    await pause(200)
    process.kill(processes[1], signal)
    await failed
    await expect.poll(() => processes.map(isRunning), { timeout: 8_000 }).toEqual([false, false])
  })

  it('serves over HTTP in a terminal until Ctrl-C', async () => {
    const folder = await folderWith({ 'server.ts': echoSource('one') })
    const terminal = await mcpxInTerminal(['dev', `${folder}/server.ts`, '--port', '0'])
    await terminal.waitFor('Serving at http://127.0.0.1:')
    await terminal.waitFor('started in')
    terminal.type('\x03')
    expect(await terminal.exited).toBe(0)
  })

  it('prints events as JSON, one per line', async () => {
    const folder = await folderWith({ 'server.ts': echoSource('one') })
    const args = ['dev', `${folder}/server.ts`, '--http', '--port', '0', '--inspect', '--json']
    const terminal = await mcpxInTerminal(args)
    await terminal.waitFor('"started"')
    await writeFile(join(folder, 'server.ts'), 'export const server = {')
    await terminal.waitFor('"failed"')
    await terminal.waitFor('"kept":true')
    await writeFile(join(folder, 'server.ts'), echoSource('two', '; setTimeout(() => process.exit(7), 500)'))
    await terminal.waitFor('"exited"')
    terminal.type('\x03')
    expect(await terminal.exited).toBe(0)
    const lines = terminal.text().match(/\{"event".*\}/g) ?? []
    const events = lines.map((line) => JSON.parse(line))
    expect(events).toEqual(
      expect.arrayContaining([
        { event: 'serving', url: expect.stringMatching(/^http:.*\/mcp$/) },
        { event: 'inspecting', url: expect.stringMatching(/^http:/) },
        { event: 'started', time: expect.any(Number) },
        { event: 'failed', message: expect.any(String), kept: true },
        { event: 'exited', message: expect.stringContaining('code 7') },
      ]),
    )
  })

  it.each([
    [['gone.ts'], 'gone.ts does not exist'],
    [[import.meta.filename, '--http', '--stdio'], '--http and --stdio exclude each other'],
    [[import.meta.filename, '--drain', 'soon'], '--drain: expected a number of ms, got "soon"'],
    [[import.meta.filename, '--watch', 'gone'], '--watch: '],
    [[import.meta.filename, '--http', '--port', '99999'], 'port: '],
  ])('refuses %j', async (args, message) => {
    expect(await mcpx(['dev', ...args])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    })
  })
})
