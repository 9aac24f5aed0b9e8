/** The command line of the MCP Inspector with our server. */

import assert from 'node:assert/strict'
import { tools } from '../servers/shop-data.ts'
import { programOf, runToEnd } from './program.ts'
import type { Environment, ThirdParty } from './third-party.ts'

const NAME = '@modelcontextprotocol/inspector'

function inspector(over: 'stdio' | 'http', target: (environment: Environment) => readonly string[]): ThirdParty {
  return {
    package: NAME,
    is: 'client',
    over,
    async run(check, environment) {
      const program = programOf(NAME, 'mcp-inspector')
      async function run(...args: readonly string[]) {
        const options = { cwd: environment.folder, env: { HOME: environment.folder } }
        const { code, stdout, stderr } = await runToEnd(program, ['--cli', ...target(environment), ...args], options)
        assert.ok(stdout.startsWith('{'), `stdout: expected JSON, got ${stdout.slice(0, 100)} ${stderr.slice(0, 200)}`)
        return { code, result: JSON.parse(stdout) as Record<string, Record<string, unknown>[]> }
      }
      await check('lists tools of all pages', async () => {
        const { code, result } = await run('--method', 'tools/list')
        assert.equal(code, 0)
        const names = (result.tools ?? []).map(({ name }) => String(name)).filter((name) => !name.startsWith('grown-'))
        assert.deepEqual(names.toSorted(), tools)
      })
      await check('calls a tool', async () => {
        const { result } = await run(...'--method tools/call --tool-name add --tool-arg a=2 b=3'.split(' '))
        assert.deepEqual(result.structuredContent, { sum: 5 })
      })
      if (over === 'stdio') return
      await check('receives the error result of a failed tool', async () => {
        const { code, result } = await run(...'--method tools/call --tool-name fail'.split(' '))
        assert.equal(code, 5)
        assert.equal(result.isError, true)
      })
      await check('reads a resource', async () => {
        const { result } = await run(...'--method resources/read --uri note://1'.split(' '))
        assert.equal(result.contents?.[0]?.text, 'Note 1')
      })
      await check('reads a prompt', async () => {
        const { result } = await run(...'--method prompts/get --prompt-name greet --prompt-args name=Ada'.split(' '))
        assert.deepEqual(result.messages?.[0]?.content, { type: 'text', text: 'Greet Ada, as you like' })
      })
    },
  }
}

export const inspectorOverHttp = inspector('http', ({ url }) => [url])
export const inspectorOverStdio = inspector('stdio', ({ command }) => command)
