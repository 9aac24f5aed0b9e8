/** How a tool fails: in words for the model, or with a fault that only the log of this process gets to see. */
import { RpcError } from '@mcpx/protocol'
import { type Server, ToolError } from '@mcpx/server'

export function addFailures(server: Server): void {
  server
    .tool('test_error_handling', { description: 'Fails, and says why' }, () => {
      throw new ToolError('This tool intentionally returns an error for testing')
    })
    .tool('break', { description: 'Fails by accident: its caller is told no more than a number' }, () => {
      throw new Error('the password is hunter2')
    })
    .tool('refuse', { description: 'Answers with an error of the protocol' }, () => {
      throw new RpcError(-32602, 'Not today', { data: { retry: 'tomorrow' } })
    })
}
