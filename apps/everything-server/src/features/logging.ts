/** Sends log messages to the client. The client receives messages at or above the level that it requested. */
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
    .tool('test_logging_tool', { description: 'Logs at several levels with a logger name' }, async (_, { log }) => {
      await log.debug('Looking closely', 'test')
      await log.info({ a: 'structured', log: 'message' }, 'test')
      await log.warning('Something is odd', 'test')
      await log.error('Something is wrong', 'test')
      return 'Logged.'
    })
}
