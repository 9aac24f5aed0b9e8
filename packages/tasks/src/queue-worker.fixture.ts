/** A process that does the work of one task, without a server: `node --conditions=source queue-worker.fixture.ts <database> <task>`. */

import { DatabaseSync } from 'node:sqlite'
import { elicit } from '@mcpx/server'
import { sqliteStore } from '@mcpx/store-sqlite'
import { z } from 'zod'
import { tasks } from './index.ts'

const [database = '', id = ''] = process.argv.slice(2)
const store = sqliteStore(new DatabaseSync(database), { pollInterval: 20 })
const task = tasks({ store }).handle(id)

await task.report('rendering')
const { content } = await task.ask('size', elicit({ message: 'Large?', schema: z.object({ yes: z.boolean() }) }))
await task.complete(`large: ${content?.yes}`)
await store.close()
