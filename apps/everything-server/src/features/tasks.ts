/** Calls that become tasks: long work, questions that wait, and work that another process completes. */
import { RpcError, type Server, ToolError } from '@mcpx/server'
import { continueAsTask, tasks } from '@mcpx/tasks'
import { z } from 'zod'
import { pause } from './pause.ts'

export const everyTask = tasks({
  inlineTime: 200,
  ttl: 600_000,
  pollInterval: 500,
  lease: 15_000,
  limits: { tasks: 2_000, perCaller: 0.5, data: 262_144, questions: 20, subscriptions: 200, resumptions: 3 },
})

const Confirm = z.object({ confirm: z.boolean() })
const Name = z.object({ name: z.string() })

export function addTasks(server: Server): void {
  server
    .tool(
      'greet',
      { description: 'Says hello at once; it is never a task', input: Name, task: 'never' },
      ({ name }) => `Hello, ${name}!`,
    )
    .tool(
      'slow_compute',
      {
        description: 'Computes for some seconds, as a task if the client supports them',
        input: z.object({ seconds: z.number().min(0).max(600), label: z.string().optional() }),
        task: 'auto',
        resumable: true,
      },
      async ({ seconds, label = 'answer' }, ctx) => {
        for (let done = 0; done < seconds; done++) {
          await ctx.progress(done, seconds, `${done} of ${seconds} s`)
          await pause(Math.min(1, seconds - done) * 1_000, ctx.signal)
        }
        return `${label}: 42, after ${seconds} s`
      },
    )
    .tool('failing_job', { description: 'Fails after a second', task: 'required' }, async (_, ctx) => {
      await pause(1_000, ctx.signal)
      throw new ToolError('The job has failed.')
    })
    .tool('protocol_error_job', { description: 'Ends with a protocol error', task: 'required' }, async (_, ctx) => {
      await pause(200, ctx.signal)
      throw new RpcError(-32603, 'The machine is out of order')
    })
    .tool(
      'confirm_delete',
      { description: 'Deletes a file if the user agrees', input: z.object({ filename: z.string() }), task: 'required' },
      async ({ filename }, ctx) => {
        const answer = await ctx.elicit('confirm', { message: `Delete ${filename}?`, schema: Confirm })
        if (answer.action !== 'accept' || !answer.content.confirm) return `${filename} was kept.`
        return ctx.step('delete', () => `${filename} was deleted.`)
      },
    )
    .tool('multi_input', { description: 'Asks two questions at once', task: 'required' }, async (_, ctx) => {
      const [name, sure] = await Promise.all([
        ctx.elicit('name', { message: 'Your name?', schema: Name.partial() }),
        ctx.elicit('sure', { message: 'Are you sure?', schema: Confirm.partial() }),
      ])
      return `${name.content?.name ?? name.action}: ${sure.content?.confirm ?? sure.action}`
    })
    .tool(
      'test_tool_with_task',
      { description: 'Asks for a name, and becomes a task then', task: 'auto' },
      async (_, ctx) => {
        const answer = await ctx.elicit('user_name', { message: 'Your name?', schema: Name })
        if (answer.action !== 'accept') return 'Nobody to work for.'
        await continueAsTask(ctx)
        await pause(100, ctx.signal)
        return `The work for ${answer.content.name} is done.`
      },
    )
    .tool(
      'print',
      { description: 'Prints on a printer that is connected to another process', task: 'auto' },
      async (_, ctx) => {
        const task = await continueAsTask(ctx)
        if (task === undefined) return 'Printed here.'
        void printElsewhere(task.id)
        return task.handOff()
      },
    )
}

/** Simulates a queue worker, which has the id of the task and the same store. */
async function printElsewhere(id: string): Promise<void> {
  const job = everyTask.handle(id)
  const isWanted = await job.report('printing')
  if (isWanted) await job.complete('Printed elsewhere.')
}
