/** The script of the page: an MCP client that asks its user in a dialog. */
import { connect, type ElicitAnswer } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import type { Trains } from './server.ts'

const settings = new URL(location.href).searchParams
const list = document.querySelector('ol') as HTMLOListElement
const dialog = document.querySelector('dialog') as HTMLDialogElement

for (const era of ['modern', 'legacy'] as const) {
  const trains = await connect<Trains>(http(settings.get('server') ?? ''), {
    era,
    onElicit: ({ message }) => showDialog(message),
  })
  const { to } = await trains.tools.departures({ from: 'Oslo' })
  const { content } = await trains.callTool('book', { to: to[0] ?? '' })
  const [answer] = content
  report(`${trains.revision}: ${answer?.type === 'text' ? answer.text : ''}`)
  await trains.close()
}
report('done')

/** Shows the message in a dialog and returns the value that the user enters. */
function showDialog(message: string): Promise<ElicitAnswer> {
  const row = dialog.querySelector('input') as HTMLInputElement
  const question = dialog.querySelector('p') as HTMLParagraphElement
  question.textContent = message
  dialog.showModal()
  // In automated runs the query parameter `row` replaces the user.
  if (settings.has('row')) setTimeout(() => fillIn(row, settings.get('row') ?? ''), 20)
  return new Promise((resolve) => {
    const answer = (): ElicitAnswer =>
      dialog.returnValue === 'ok' ? { action: 'accept', content: { row: row.valueAsNumber } } : { action: 'cancel' }
    dialog.addEventListener('close', () => resolve(answer()), { once: true })
  })
}

function fillIn(row: HTMLInputElement, value: string): void {
  row.value = value
  const ok = dialog.querySelector('button') as HTMLButtonElement
  ok.click()
}

function report(line: string): void {
  const item = document.createElement('li')
  item.textContent = line
  list.append(item)
  void fetch('/report', { method: 'POST', body: line })
}
