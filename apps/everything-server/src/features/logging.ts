/** Log messages to the client: it gets those from the level on that it asked for, in either era. */
import type { Server } from '@mcpx/server'
import { pause } from './pause.ts'

export function addLogging(server: Server): void {
  server
    .tool('test_tool_with_logging', { description: 'Logs three times' }, async (_, ctx) => {
      await ctx.log.info('Tool execution started')
      await pause(50)
      await ctx.log.info('Tool processing data')
      await pause(50)
      await ctx.log.info('Tool execution completed')
      return 'Logged.'
    })
    .tool(
      'test_logging_tool',
      { description: 'Logs at every level, under the name of a logger' },
      async (_, { log }) => {
        await log.debug('Looking closely', 'test')
        await log.info({ what: 'a value', is: 'fine too' }, 'test')
        await log.warning('Something is odd', 'test')
        await log.error('Something is wrong', 'test')
        return 'Logged.'
      },
    )
}
