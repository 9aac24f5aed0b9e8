/** The second process of tests: `node --conditions=source process.fixture.ts <file>`. */

import { DatabaseSync } from 'node:sqlite'
import { sqliteStore } from './index.ts'

const [file = ''] = process.argv.slice(2)
const store = sqliteStore(new DatabaseSync(file))

/** Each line of standard input is a command with arguments as a JSON array; each result is a line of standard output. */
const commands: Readonly<Record<string, (...args: string[]) => unknown>> = {
  async add(id = '', name = '', count = '') {
    for (let n = 0; n < Number(count); n++) {
      await store.sessions.update(id, (state) => void state.subscriptions?.push(`${name}:${n}`))
    }
  },
  async count(key = '', count = '') {
    for (let n = 0; n < Number(count); n++) await store.counters.increment(key, 60_000)
  },
  async note(id = '', name = '', count = '') {
    for (let n = 0; n < Number(count); ) {
      const task = await store.tasks.get(id)
      if (task === undefined) throw new Error(`there is no task ${id}`)
      if (await store.tasks.update(id, task.version, `${task.data}${name}:${n} `)) n += 1
    }
  },
  /** Claims tasks, with leases that do not lapse, until none is left. */
  async claimAll(owner = '') {
    const ids: string[] = []
    for (;;) {
      const task = await store.tasks.claim({ owner, duration: 60_000 })
      if (task === undefined) return ids
      ids.push(task.id)
    }
  },
  create: (id = '', data = '') => store.tasks.create(id, data, 60_000, { owner: 'child', duration: 1_000 }),
  append: (stream = '', data = '') => store.events.append(stream, data),
  end: (stream = '') => store.events.end(stream),
  publish: (topic = '', message = '') => store.bus.publish(topic, message),
  async subscribe(topic = '') {
    await store.bus.subscribe(topic, (message) => print({ received: message }))
  },
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

let buffered = ''
for await (const chunk of process.stdin.setEncoding('utf8')) {
  const lines = (buffered + chunk).split('\n')
  buffered = lines.pop() ?? ''
  for (const line of lines) {
    const [command, ...args] = JSON.parse(line) as string[]
    const result = await commands[command ?? '']?.(...args)
    print({ result: result ?? null })
  }
}
