/** What the compiler knows of the options of tools; checked by it, never run. */
import { createServer, defineTool } from '@mcpx/server'
import { expectTypeOf } from 'vitest'
import { continueAsTask, type StartedTask, type TasksExtension, tasks } from './index.ts'

const server = createServer({ name: 'types', version: '1' }, { extensions: [tasks()] })

server.tool('a', { task: 'auto', resumable: true }, () => '')
server.tool('b', { task: 'required' }, () => '')
server.add(defineTool('c', { task: 'never' }, () => ''))
// @ts-expect-error there is no such value
server.tool('d', { task: 'always' }, () => '')
// @ts-expect-error it is no boolean
server.tool('e', { task: 'auto', resumable: 'yes' }, () => '')

server.tool('f', { task: 'auto' }, async (_, ctx) => {
  const task = await continueAsTask(ctx)
  expectTypeOf(task).toEqualTypeOf<StartedTask | undefined>()
  // A handler may return what never resolves.
  return task === undefined ? '' : task.handOff()
})

expectTypeOf(tasks()).toEqualTypeOf<TasksExtension>()
// @ts-expect-error a misspelled option
tasks({ tll: 1 })
