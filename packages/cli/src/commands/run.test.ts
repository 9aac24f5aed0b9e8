import { spawn as start } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { spawn } from '@mcpx/transport-stdio'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folderWith, mcpx, mcpxInTerminal } from '../cli.fixture.ts'

const shop = fileURLToPath(new URL('../server.fixture.ts', import.meta.url))
const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const nodeArgs = ['--import', new URL('../sources.fixture.ts', import.meta.url).href, main, 'run']

/** Runs `mcpx run --http` until the end of the test. Resolves to the URL. */
async function runHttp(file: string, ...args: string[]): Promise<{ url: string; stop: () => Promise<number | null> }> {
  const child = start(process.execPath, [...nodeArgs, file, '--http', '--port', '0', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  for await (const chunk of child.stderr) {
    text += chunk
    const [, url] = /Serving at (\S+) until/.exec(text) ?? []
    if (url !== undefined) {
      return {
        url,
        stop() {
          child.kill('SIGTERM')
          return exited
        },
      }
    }
  }
  throw new Error(text)
}

describe('mcpx run', () => {
  it('serves over standard input and output, without a line of the server between', async () => {
    const folder = await folderWith({ 'noisy.ts': `console.log('up'); export { server } from ${JSON.stringify(shop)}` })
    const client = await connect(
      spawn(process.execPath, [...nodeArgs, `${folder}/noisy.ts`, '--stdio'], { stderr: 'ignore' }),
    )
    expect((await client.callTool('slow')).content).toEqual([{ type: 'text', text: 'done' }])
    await client.close()
  })

  it('serves the server of a file over standard input that exports an app, too', async () => {
    const source = `import { mcp } from '${import.meta.resolve('@mcpx/transport-http')}'; import { server } from '${pathToFileURL(shop)}'; export { server }; export default mcp(server)`
    const folder = await folderWith({ 'both.ts': source })
    const client = await connect(
      spawn(process.execPath, [...nodeArgs, `${folder}/both.ts`, '--stdio'], { stderr: 'ignore' }),
    )
    expect((await client.callTool('slow')).content).toEqual([{ type: 'text', text: 'done' }])
    await client.close()
  })

  it.each([
    ['dep.ts', 'const a: number = 1\nconst b = {', 'dep.ts:2'],
    ['dep.mjs', 'const a = {\n  b: 1,,\n}', 'main.mjs cannot be loaded'],
    ['dep.mjs', "\nthrow new Error('at import')", 'dep.mjs:2:7'],
  ])('shows the place of an error in %s', async (name, source, place) => {
    const folder = await folderWith({ 'main.mjs': `import './${name}'`, [name]: source })
    const { code, stderr } = await mcpx(['run', `${folder}/main.mjs`, '--stdio'])
    expect(code).toBe(3)
    expect(stderr).toContain(`${folder}/${place}`)
  })

  it('serves a server and an app over HTTP, until a signal', async () => {
    const source = `import { mcp } from '${import.meta.resolve('@mcpx/transport-http')}'; import { server } from '${pathToFileURL(shop)}'; export default mcp(server)`
    const folder = await folderWith({ 'app.ts': source })
    const { url, stop } = await runHttp(shop)
    const app = await runHttp(`${folder}/app.ts`)
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
    for (const each of [url, app.url]) {
      const client = await connect(http(each))
      expect((await client.callTool('slow')).content).toEqual([{ type: 'text', text: 'done' }])
      await client.close()
    }
    expect(await stop()).toBe(0)
    const taken = await mcpx(['run', `${folder}/app.ts`, '--http', '--port', new URL(app.url).port])
    expect(taken).toMatchObject({ code: 2, stderr: expect.stringContaining('EADDRINUSE') })
  })

  it('prints the address as JSON', async () => {
    const terminal = await mcpxInTerminal(['run', shop, '--port', '0', '--json'])
    await terminal.waitFor('}')
    expect(JSON.parse(terminal.text())).toEqual({ event: 'serving', url: expect.stringMatching(/^http:.*\/mcp$/) })
  })

  it('prints only JSON on standard output, although the server prints lines, too', async () => {
    const lines =
      "console.log('up'); setTimeout(() => { console.log('late'); process.kill(process.pid, 'SIGTERM') }, 500)"
    const folder = await folderWith({ 'noisy.ts': `${lines}; export { server } from ${JSON.stringify(shop)}` })
    const { code, stderr, json } = await mcpx(['run', `${folder}/noisy.ts`, '--http', '--port', '0', '--json'])
    expect(json()).toEqual({ event: 'serving', url: expect.any(String) })
    expect([code, stderr]).toEqual([0, 'up\nlate\n'])
  })

  it.each(['run', 'dev'])('refuses to print JSON between the messages of a server: mcpx %s', async (command) => {
    const { code, json } = await mcpx([command, shop, '--json'])
    expect(code).toBe(2)
    expect(json()).toEqual({
      error: {
        kind: 'usage',
        message: '--json: standard output carries the messages of the server',
        hint: 'Add --http.',
      },
    })
  })

  it.each([
    [['gone.ts'], 'gone.ts does not exist'],
    [[shop, '--http', '--stdio'], '--http and --stdio exclude each other'],
    [[shop, '--http', '--port', '99999'], 'port: '],
  ])('refuses %j', async (args, message) => {
    expect(await mcpx(['run', ...args])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    })
  })
})
