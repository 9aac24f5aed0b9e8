import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import type { TodoServer } from '../src/server.ts'

/** A typed client: an unknown tool or a wrong argument does not compile. */
const client = await connect<TodoServer>(http(new URL('/mcp', location.href)))

const form = find('form')
const list = find('ul')
const status = find('[role=status]')

form.addEventListener('submit', (event) => {
  event.preventDefault()
  const title = String(new FormData(form).get('title'))
  form.reset()
  client.tools.add_todo({ title }).catch(showError)
})

await showTodos()
// Changes of other clients, such as an agent, arrive here, too.
for await (const _ of client.listen({ resourceSubscriptions: ['todos://all'] })) await showTodos().catch(showError)

async function showTodos(): Promise<void> {
  const { todos } = await client.tools.list_todos()
  list.replaceChildren(
    ...todos.map(({ id, title, done }) => {
      const box = document.createElement('input')
      Object.assign(box, { type: 'checkbox', checked: done, disabled: done })
      box.addEventListener('change', () => client.tools.complete_todo({ id }).catch(showError))
      const label = document.createElement('label')
      label.append(box, title)
      const item = document.createElement('li')
      item.append(label)
      return item
    }),
  )
  status.textContent = ''
}

function showError(error: unknown): void {
  status.textContent = String(error)
}

function find<Name extends keyof HTMLElementTagNameMap>(selector: Name): HTMLElementTagNameMap[Name]
function find(selector: string): Element
function find(selector: string): Element {
  const element = document.querySelector(selector)
  if (element === null) throw new Error(`index.html: expected an element ${selector}`)
  return element
}
