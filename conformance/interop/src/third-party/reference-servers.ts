/** The reference servers for files and memories, called by our client. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { connectOurs } from '../clients/ours.ts'
import { eventually, textOf } from '../feature.ts'
import { programOf } from './program.ts'
import type { ThirdParty } from './third-party.ts'

const FILES = '@modelcontextprotocol/server-filesystem'
const MEMORY = '@modelcontextprotocol/server-memory'

export const filesystem: ThirdParty = {
  package: FILES,
  is: 'server',
  over: 'stdio',
  async run(check, { folder }) {
    writeFileSync(join(folder, 'note.txt'), 'Buy milk\n')
    const driver = await connectOurs({
      transport: 'stdio',
      command: [process.execPath, programOf(FILES)],
      // The server requests its allowed folders as roots.
      roots: [{ uri: pathToFileURL(folder).href, name: 'folder' }],
    })
    const path = join(folder, 'note.txt')
    await check('provides its roots', async () => {
      let folders = ''
      const refresh = async () => {
        folders = textOf(await driver.callTool('list_allowed_directories'))
      }
      await eventually('the roots request of the server', () => folders.includes(folder), refresh)
    })
    await check('reads, changes and lists files', async () => {
      assert.equal(textOf(await driver.callTool('read_text_file', { path })), 'Buy milk\n')
      const edits = [{ oldText: 'milk', newText: 'bread' }]
      assert.match(textOf(await driver.callTool('edit_file', { path, edits })), /\+Buy bread/)
      assert.match(textOf(await driver.callTool('list_directory', { path: folder })), /\[FILE\] note\.txt/)
    })
    await check('receives structured content', async () => {
      const { structuredContent } = await driver.callTool('read_text_file', { path })
      assert.deepEqual(structuredContent, { content: 'Buy bread\n' })
    })
    await check('receives an error for other folders', async () => {
      const result = await driver.callTool('read_text_file', { path: '/etc/passwd' })
      assert.equal(result.isError, true)
      assert.match(textOf(result), /Access denied/)
    })
    await driver.close()
  },
}

export const memory: ThirdParty = {
  package: MEMORY,
  is: 'server',
  over: 'stdio',
  async run(check, { folder }) {
    const driver = await connectOurs({
      transport: 'stdio',
      command: [process.execPath, programOf(MEMORY)],
      env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
    })
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }]
    await check('stores and finds memories', async () => {
      assert.deepEqual((await driver.callTool('create_entities', { entities })).structuredContent, { entities })
      const found = await driver.callTool('search_nodes', { query: 'programs' })
      assert.deepEqual(found.structuredContent, { entities, relations: [] })
    })
    await check('receives an error for invalid arguments', async () => {
      const result = await driver.callTool('create_entities', { entities: [{ name: 1 }] })
      assert.equal(result.isError, true)
    })
    await driver.close()
  },
}
