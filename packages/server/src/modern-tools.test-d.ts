/** What the compiler knows of servers of tools for modern clients; checked by it, never run. */
import { expectTypeOf } from 'vitest'
import { createServer } from './modern-tools.ts'
import type { ToolServer } from './tool-server.ts'

const info = { name: 'test', version: '1' }
expectTypeOf(createServer(info, { pageSize: 1 })).toExtend<ToolServer>()
// @ts-expect-error no older peers are served at all
createServer(info, { legacy: true })
