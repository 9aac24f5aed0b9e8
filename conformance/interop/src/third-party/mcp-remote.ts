/** mcp-remote, a bridge from stdio clients to HTTP servers, between our client and our server. */

import assert from 'node:assert/strict'
import { connectOurs } from '../clients/ours.ts'
import { textOf } from '../feature.ts'
import { stepsOf } from '../progress-call.ts'
import { programOf } from './program.ts'
import type { ThirdParty } from './third-party.ts'

const NAME = 'mcp-remote'

export const mcpRemote: readonly ThirdParty[] = ['2025-11-25', '2026-07-28'].map((revision) => ({
  package: NAME,
  is: 'client',
  over: `http, ${revision}`,
  async run(check, { url, folder }) {
    const driver = await connectOurs({
      transport: 'stdio',
      revision,
      command: [process.execPath, programOf(NAME, NAME), url],
      env: { HOME: folder, MCP_REMOTE_CONFIG_DIR: folder },
    })
    await check('forwards calls', async () => {
      assert.deepEqual((await driver.callTool('add', { a: 2, b: 3 })).structuredContent, { sum: 5 })
      assert.match(textOf(await driver.callTool('who')), /^visitor/)
    })
    await check('forwards progress', async () => {
      const { steps } = await stepsOf(driver)
      assert.deepEqual(
        steps.map(({ progress }) => progress),
        [1, 2, 3],
      )
    })
    await check('forwards input requests', async () => {
      assert.equal(textOf(await driver.callTool('ask-twice')), 'accept decline')
      assert.equal(textOf(await driver.callTool('visit')), 'accept')
      assert.equal(textOf(await driver.callTool('write')), 'You said: Hello')
      assert.match(textOf(await driver.callTool('folders')), /file:\/\/\/work/)
    })
    await check('forwards resources and prompts', async () => {
      const [note] = (await driver.readResource('note://1')).contents
      assert.equal(note && 'text' in note && note.text, 'Note 1')
      assert.equal((await driver.listPrompts())[0]?.name, 'greet')
    })
    await driver.close()
  },
}))
