/** What runs in the page: a client like any other, whose user is asked by a dialog. */
import { connect, type ElicitAnswer } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import type { Trains } from './server.ts'

const settings = new URL(location.href).searchParams
const list = document.querySelector('ol') as HTMLOListElement
const dialog = document.querySelector('dialog') as HTMLDialogElement

for (const era of ['modern', 'legacy'] as const) {
  const trains = await connect<Trains>(http(settings.get('server') ?? ''), {
    era,
    onElicit: ({ message }) => ask(message),
  })
  const { to } = await trains.tools.departures({ from: 'Oslo' })
  const { content } = await trains.callTool('book', { to: to[0] ?? '' })
  const [answer] = content
  say(`${trains.revision}: ${answer?.type === 'text' ? answer.text : ''}`)
  await trains.close()
}
say('done')

/** Shows the question; what the user fills in is the answer. */
function ask(message: string): Promise<ElicitAnswer> {
  const row = dialog.querySelector('input') as HTMLInputElement
  const question = dialog.querySelector('p') as HTMLParagraphElement
  question.textContent = message
  dialog.showModal()
  // Stands in for the user, where there is none.
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

function say(line: string): void {
  const item = document.createElement('li')
  item.textContent = line
  list.append(item)
  void fetch('/said', { method: 'POST', body: line })
}
