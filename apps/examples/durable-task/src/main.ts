/** Kills two of three processes during one task, with Redis and with SQLite. Each step runs once. `npm start` */
import { strict as assert } from 'node:assert'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'

interface ShopProcess {
  readonly name: string
  readonly url: string
  readonly child: ChildProcess
}

const children: ChildProcess[] = []
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

for (const kind of ['sqlite', 'redis'] as const) {
  if (kind === 'redis' && process.env.CI === undefined && spawnSync('redis-server', ['--version']).error) {
    console.log('left out: Redis: redis-server is not installed')
    continue
  }
  const folder = await mkdtemp(join(tmpdir(), 'durable-task-'))
  try {
    await order(kind, folder)
  } finally {
    for (const child of children.splice(0)) await kill(child)
    await rm(folder, { recursive: true })
  }
}
console.log('ok')

async function order(kind: 'redis' | 'sqlite', folder: string): Promise<void> {
  const path = join(folder, kind)
  const ledger = join(folder, 'ledger')
  if (kind === 'redis') await startRedis(path, folder)
  const start = (name: string) => startProcess([kind, path, ledger, name])
  const processes = await Promise.all(['A', 'B', 'C'].map(start))
  const killBy = async (action: string) => {
    const { child } = processes.find(({ name }) => action.endsWith(`by ${name}`)) ?? assert.fail(action)
    await kill(child)
  }

  await using client = await connect(http('http://shop.test/mcp', { fetch: balance(processes) }), {
    // Before the user answers, this kills the process that has charged the order.
    onElicit: async ({ message }) => {
      await killBy(message)
      return { action: 'accept', content: { approved: true } }
    },
  })
  const task = await client.callTool('order', { item: 'lamp' }, { task: 'handle' })
  // This kills the process that has packed the order, before the process ships it.
  task.onStatus(({ status, statusMessage = '' }) => {
    if (status === 'working' && statusMessage.startsWith('packed')) void killBy(statusMessage)
  })
  const [content] = (await task.result()).content ?? []
  const done = (await readFile(ledger, 'utf8')).trim().split('\n')
  assert.deepEqual(content, { type: 'text', text: `lamp: ${done.join(', ')}` })
  assert.match(done.join(), /^charged by (.),packed by (.),shipped by (.)$/)
  assert.equal(new Set(done.map((line) => line.at(-1))).size, 3)
  console.log(`${kind}: ${done.join(', process killed, ')}`)
}

/** Sends each request to the next running process, as a load balancer does. */
function balance(processes: readonly ShopProcess[]): typeof fetch {
  let turn = 0
  return (_url, init) => {
    const alive = processes.filter(({ child }) => child.signalCode === null)
    const { url } = alive[turn++ % alive.length] ?? assert.fail('No process is left')
    return fetch(url, init)
  }
}

async function startProcess(args: readonly string[]): Promise<ShopProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'process.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { name: args.at(-1) ?? '', url, child }
}

/** Starts a Redis server that listens on a socket in the folder. */
async function startRedis(socket: string, folder: string): Promise<void> {
  const args = ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', folder]
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child, 'spawn')
  children.push(child)
  for await (const line of createInterface(child.stdout)) {
    if (line.includes('eady to accept connections')) break
  }
  child.stdout.resume()
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
