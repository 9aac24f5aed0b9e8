/** supergateway, a bridge between stdio and HTTP in both directions, between our client and our server. */

import assert from 'node:assert/strict'
import { connectOurs } from '../clients/ours.ts'
import type { Driver } from '../driver.ts'
import { programOf, startListening } from './program.ts'
import type { Check, ThirdParty } from './third-party.ts'

const NAME = 'supergateway'

async function checkForwarding(check: Check, driver: Driver): Promise<void> {
  await check('forwards calls', async () => {
    assert.deepEqual((await driver.callTool('add', { a: 2, b: 3 })).structuredContent, { sum: 5 })
  })
  await check('forwards resources and prompts', async () => {
    const [note] = (await driver.readResource('note://1')).contents
    assert.equal(note && 'text' in note && note.text, 'Note 1')
    assert.equal((await driver.listPrompts())[0]?.name, 'greet')
  })
}

const fromStdioToHttp: ThirdParty = {
  package: NAME,
  is: 'client',
  over: 'stdio to http',
  async run(check, { url }) {
    const command = [process.execPath, programOf(NAME), '--streamableHttp', url, '--logLevel', 'none']
    const driver = await connectOurs({ transport: 'stdio', command })
    await checkForwarding(check, driver)
    await driver.close()
  },
}

const fromHttpToStdio: ThirdParty = {
  package: NAME,
  is: 'server',
  over: 'http to stdio',
  async run(check, { command }) {
    const stdio = command.map((word) => JSON.stringify(word)).join(' ')
    const options = ['--stdio', stdio, '--outputTransport', 'streamableHttp', '--stateful', '--logLevel', 'none']
    const server = await startListening(programOf(NAME), options)
    const driver = await connectOurs({ transport: 'http', url: `http://127.0.0.1:${server.port}/mcp` })
    await checkForwarding(check, driver)
    await driver.close()
    await server.close()
  },
}

export const supergateway: readonly ThirdParty[] = [fromStdioToHttp, fromHttpToStdio]
