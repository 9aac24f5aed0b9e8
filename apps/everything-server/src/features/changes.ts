/** Tools, resources and prompts that change while the server runs; clients that listen are notified. */
import type { Server } from '@mcpx/server'

export function addChanges(server: Server): void {
  let changes = 0
  const register = (replace: boolean) => {
    const description = `Was changed ${changes} times`
    server.tool('changing', { replace, description }, () => `${changes} changes`)
    server.resource('test://changing', { replace, description }, `${changes} changes`)
    server.prompt('changing', { replace, description }, () => `${changes} changes`)
  }
  register(false)
  const change = () => {
    changes += 1
    register(true)
    return `Changed ${changes} times.`
  }
  server
    .tool('test_trigger_tool_change', { description: 'Changes a tool' }, change)
    .tool('test_trigger_prompt_change', { description: 'Changes a prompt' }, change)
    .tool('grow', { description: 'Adds one tool, resource and prompt, or removes them' }, () => {
      if (server.removeTool('grown')) {
        server.removeResource('test://grown')
        server.removePrompt('grown')
        return 'Gone.'
      }
      const options = { description: 'Exists temporarily' }
      server
        .tool('grown', options, () => 'Here I am.')
        .resource('test://grown', options, 'Here I am.')
        .prompt('grown', options, () => 'Are you there?')
      return 'Here.'
    })
}
