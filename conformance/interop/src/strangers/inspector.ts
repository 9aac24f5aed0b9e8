/** The Inspector's command line, against our server. */

import assert from 'node:assert/strict'
import { tools } from '../servers/goods.ts'
import { programOf, runToEnd } from './program.ts'
import type { Ground, Stranger } from './stranger.ts'

const NAME = '@modelcontextprotocol/inspector'

function inspector(over: 'stdio' | 'http', target: (ground: Ground) => readonly string[]): Stranger {
  return {
    package: NAME,
    is: 'client',
    over,
    async run(check, ground) {
      const program = programOf(NAME, 'mcp-inspector')
      async function ask(...args: readonly string[]) {
        const options = { cwd: ground.folder, env: { HOME: ground.folder } }
        const { code, stdout, stderr } = await runToEnd(program, ['--cli', ...target(ground), ...args], options)
        assert.ok(stdout.startsWith('{'), `it wrote ${stdout.slice(0, 100)} ${stderr.slice(0, 200)}`)
        return { code, result: JSON.parse(stdout) as Record<string, Record<string, unknown>[]> }
      }
      await check('lists tools, of all pages', async () => {
        const { code, result } = await ask('--method', 'tools/list')
        assert.equal(code, 0)
        const names = (result.tools ?? []).map(({ name }) => String(name)).filter((name) => !name.startsWith('grown-'))
        assert.deepEqual(names.toSorted(), tools)
      })
      await check('calls a tool', async () => {
        const { result } = await ask(...'--method tools/call --tool-name add --tool-arg a=2 b=3'.split(' '))
        assert.deepEqual(result.structuredContent, { sum: 5 })
      })
      if (over === 'stdio') return
      await check('sees that a tool failed', async () => {
        const { code, result } = await ask(...'--method tools/call --tool-name fail'.split(' '))
        assert.equal(code, 5)
        assert.equal(result.isError, true)
      })
      await check('reads a resource', async () => {
        const { result } = await ask(...'--method resources/read --uri note://1'.split(' '))
        assert.equal(result.contents?.[0]?.text, 'Note 1')
      })
      await check('gets a prompt', async () => {
        const { result } = await ask(...'--method prompts/get --prompt-name greet --prompt-args name=Ada'.split(' '))
        assert.deepEqual(result.messages?.[0]?.content, { type: 'text', text: 'Greet Ada, as you like' })
      })
    },
  }
}

export const inspectorOverHttp = inspector('http', ({ url }) => [url])
export const inspectorOverStdio = inspector('stdio', ({ command }) => command)
