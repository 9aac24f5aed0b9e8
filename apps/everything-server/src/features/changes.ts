/** Offers that change while the server runs: clients that want to know are told by themselves. */
import type { Server } from '@mcpx/server'

export function addChanges(server: Server): void {
  let changes = 0
  const offer = (replace: boolean) => {
    const description = `Was changed ${changes} times`
    server.tool('changing', { replace, description }, () => `${changes} changes`)
    server.resource('test://changing', { replace, description }, `${changes} changes`)
    server.prompt('changing', { replace, description }, () => `${changes} changes`)
  }
  offer(false)
  const change = () => {
    changes += 1
    offer(true)
    return `Changed ${changes} times.`
  }
  server
    .tool('test_trigger_tool_change', { description: 'Changes a tool' }, change)
    .tool('test_trigger_prompt_change', { description: 'Changes a prompt' }, change)
    .tool('grow', { description: 'Adds one offer of each kind, or takes them away again' }, () => {
      if (server.removeTool('grown')) {
        server.removeResource('test://grown')
        server.removePrompt('grown')
        return 'Gone.'
      }
      const about = { description: 'Is here for a while' }
      server
        .tool('grown', about, () => 'Here I am.')
        .resource('test://grown', about, 'Here I am.')
        .prompt('grown', about, () => 'Are you there?')
      return 'Here.'
    })
}
