import { createServer, ToolError } from '@mcpx/server'
import * as z from 'zod'

const Todo = z.object({ id: z.number().int(), title: z.string(), done: z.boolean() })
type Todo = z.infer<typeof Todo>

/** Creates a server with a list of todos in memory. Replace the Map by your database. */
export function createTodoServer() {
  const todos = new Map<number, Todo>()
  const server = createServer({ name: '{{name}}', version: '0.1.0' })
    .tool(
      'add_todo',
      { description: 'Add a todo to the list', input: z.object({ title: z.string().min(1) }), output: Todo },
      ({ title }) => save({ id: todos.size + 1, title, done: false }),
    )
    .tool(
      'complete_todo',
      {
        description: 'Mark a todo as done',
        input: z.object({ id: z.number().int().describe('The id that list_todos returns') }),
        output: Todo,
        annotations: { idempotentHint: true },
      },
      ({ id }) => {
        const todo = todos.get(id)
        if (todo === undefined) throw new ToolError(`There is no todo ${id}. list_todos returns the ids.`)
        return save({ ...todo, done: true })
      },
    )
    .tool(
      'list_todos',
      {
        description: 'List all todos',
        output: z.object({ todos: z.array(Todo) }),
        annotations: { readOnlyHint: true },
      },
      () => ({ todos: [...todos.values()] }),
    )
    .resource('todos://all', { mimeType: 'application/json', subscribe: true }, () => [...todos.values()])

  /** Clients that are subscribed to the list are notified of the change. */
  function save(todo: Todo): Todo {
    todos.set(todo.id, todo)
    server.resourceUpdated('todos://all')
    return todo
  }

  return server
}

/** The type of the server, for typed clients: `connect<TodoServer>(...)`. */
export type TodoServer = ReturnType<typeof createTodoServer>
