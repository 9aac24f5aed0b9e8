/** A server with every kind of item, for tests that need any of them. */
import { createServer, image, type ServerOptions, ToolError } from '@mcpx/server'
import { z } from 'zod'

const FORM = z.object({ name: z.string() })

/** Its tools are `echo`, `fail`, `crash`, `ask`, `twice`, `work` and `log`. */
export function createFullServer(options: ServerOptions = {}) {
  return createServer({ name: 'full', version: '1.0.0' }, options)
    .tool('echo', { input: z.object({ text: z.string() }), output: z.object({ text: z.string() }) }, (args) => args)
    .tool('fail', {}, () => {
      throw new ToolError('It failed')
    })
    .tool('crash', {}, () => {
      throw new Error('secret')
    })
    .tool('ask', {}, async (_, ctx) => {
      const { action } = await ctx.elicit('name', { message: 'Name?', schema: FORM })
      return action
    })
    .tool('twice', {}, async (_, ctx) => {
      await ctx.elicit('one', { message: 'One?', schema: FORM })
      const [root] = await ctx.roots('two')
      return `${root?.uri}`
    })
    .tool('work', {}, async (_, ctx) => {
      for (const done of [1, 2, 2, 1, 3]) await ctx.progress(done, 3, 'working')
      return image('AAAA', 'image/png')
    })
    .tool('log', {}, async (_, ctx) => {
      await ctx.log.debug('quiet')
      await ctx.log.error('loud')
      return 'logged'
    })
    .resource('config://app', {}, { debug: true })
    .resource('note://{id}', { subscribe: true, complete: { id: ['1', '2'] } }, ({ id }) =>
      id === 'gone' ? undefined : `note ${id}`,
    )
    .prompt('greet', { args: z.object({ name: z.string() }) }, async ({ name }, ctx) => {
      if (name !== '?') return `Hello ${name}`
      const answer = await ctx.elicit('name', { message: 'Name?', schema: FORM })
      return `Hello ${answer.content?.name}`
    })
}

/** A valid request of each method. */
export const EVERY_REQUEST: readonly (readonly [string, object])[] = [
  ['server/discover', {}],
  ['tools/list', {}],
  ['tools/call', { name: 'echo', arguments: { text: 'hi' } }],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'config://app' }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'greet', arguments: { name: 'Ada' } }],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'note://{id}' }, argument: { name: 'id', value: '' } }],
]
