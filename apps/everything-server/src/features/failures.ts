/** How a tool fails: in words for the model, with an error of the protocol, or with a fault that only the log gets to see. */
import { ErrorCode, insufficientScope, missingClientCapability, RpcError, type Server, ToolError } from '@mcpx/server'
import { z } from 'zod'

const report = z.object({ title: z.string(), isPublic: z.boolean() })

export function addFailures(server: Server): void {
  server
    .tool('test_error_handling', { description: 'Fails, and says why' }, () => {
      throw new ToolError('This tool intentionally returns an error for testing')
    })
    .tool('break', { description: 'Fails by accident: its caller is told no more than a number' }, () => {
      throw new Error('the password is hunter2')
    })
    .tool('refuse', { description: 'Answers with an error of the protocol' }, () => {
      throw new RpcError(ErrorCode.InvalidParams, 'Not today', {
        data: { retry: 'tomorrow' },
        // For the log of whoever catches it; clients do not get to see it.
        cause: new Error('The door is closed on Sundays'),
      })
    })
    .tool('publish', { description: 'Takes a scope for some arguments only', input: report }, (given, { auth }) => {
      if (given.isPublic && !auth?.scopes.includes('admin')) throw insufficientScope(['admin'])
      return `Published ${given.title}.`
    })
    .tool(
      'has_model',
      { description: 'Fails for clients without a model before it does anything' },
      (_, { client }) => {
        if (client.capabilities.sampling === undefined) throw missingClientCapability({ sampling: {} })
        return 'There is a model.'
      },
    )
}
