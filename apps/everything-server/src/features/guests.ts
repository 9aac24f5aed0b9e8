/** A handler that calls another handler without the authentication of the caller. */
import type { ToolHandler } from '@mcpx/protocol'
import { deriveContext, type Server } from '@mcpx/server'

const desk: ToolHandler = {
  listTools: () => ({ tools: [{ name: 'greet', description: 'Greets', inputSchema: { type: 'object' } }] }),
  callTool: (_, { auth }) => ({ content: [{ type: 'text', text: `Hello, ${auth?.subject ?? 'guest'}.` }] }),
}

function asGuests(inner: ToolHandler): ToolHandler {
  return { ...inner, callTool: (params, ctx) => inner.callTool(params, deriveContext(ctx, { auth: undefined })) }
}

export function mountDesk(server: Server): void {
  server.mount('desk', asGuests(desk))
}
