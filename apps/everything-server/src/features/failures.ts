/**
 * Tools that fail: with a message for the model, with a protocol error, or with an unexpected error that only the log
 * contains.
 */
import { ErrorCode, insufficientScope, missingClientCapability, RpcError, type Server, ToolError } from '@mcpx/server'
import { z } from 'zod'

const report = z.object({ title: z.string(), isPublic: z.boolean() })

export function addFailures(server: Server): void {
  server
    .tool('test_error_handling', { description: 'Fails with a message for the model' }, () => {
      throw new ToolError('This tool intentionally returns an error for testing')
    })
    .tool('break', { description: 'Throws an unexpected error, of which the caller sees only an id' }, () => {
      throw new Error('the password is hunter2')
    })
    .tool('refuse', { description: 'Fails with a protocol error' }, () => {
      throw new RpcError(ErrorCode.InvalidParams, 'Not today', {
        data: { retry: 'tomorrow' },
        // This text is for the server's log. It is not sent to clients.
        cause: new Error('The door is closed on Sundays'),
      })
    })
    .tool('publish', { description: 'Requires a scope for some arguments only', input: report }, (args, { auth }) => {
      if (args.isPublic && !auth?.scopes.includes('admin')) throw insufficientScope(['admin'])
      return `Published ${args.title}.`
    })
    .tool(
      'has_model',
      { description: 'Fails at once for clients without the sampling capability' },
      (_, { client }) => {
        if (client.capabilities.sampling === undefined) throw missingClientCapability({ sampling: {} })
        return 'There is a model.'
      },
    )
}
