import { connect } from '@mcpx/client'
import { testServer } from '@mcpx/testing/server'
import '@mcpx/testing/vitest'
import { http } from '@mcpx/transport-http/client'
import { expect, test } from 'vitest'
import { createApp } from './app.ts'
import { createTodoServer, type TodoServer } from './server.ts'

/** Calls the app without a port. */
function connectorOf(server: TodoServer) {
  const app = createApp(server)
  return http('http://127.0.0.1/mcp', { fetch: async (url, init) => app.request(url, init) })
}

test('completes a todo', () =>
  testServer(createTodoServer, async ({ client }) => {
    await client.callTool('add_todo', { title: 'Buy milk' })
    await client.callTool('complete_todo', { id: 1 })
    const result = await client.callTool('list_todos')
    expect(result).toHaveStructuredContent({ todos: [{ id: 1, title: 'Buy milk', done: true }] })
  }))

test('says which tool returns the ids', () =>
  testServer(createTodoServer, async ({ client }) => {
    expect(await client.callTool('complete_todo', { id: 7 })).toHaveFailed('list_todos returns the ids')
  }))

test('notifies one client of what another one adds', async () => {
  const server = createTodoServer()
  await using page = await connect<TodoServer>(connectorOf(server))
  await using agent = await connect<TodoServer>(connectorOf(server))
  const changes = page.listen({ resourceSubscriptions: ['todos://all'] })
  await changes.ready
  await agent.tools.add_todo({ title: 'Buy milk' })
  expect((await changes.next()).value).toMatchObject({ kind: 'resource', uri: 'todos://all' })
})
