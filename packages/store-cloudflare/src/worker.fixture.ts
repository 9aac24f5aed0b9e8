/** A Worker that runs the contract of stores: each request runs the case that its query names. */

import { storeContract } from '@mcpx/testing'
import { type CloudflareStore, durableObjectStore, McpxStore, type ObjectNamespace, type ObjectState } from './index.ts'

/** A store object that drops its subscriptions on request, as a deployment does. */
export class TestStore extends McpxStore {
  /** Changes when the object is evicted from memory and loaded again. */
  readonly #id = String(Math.random())
  readonly #state: ObjectState

  constructor(state: ObjectState) {
    super(state)
    this.#state = state
  }

  override fetch(request: Request): Promise<Response> {
    if (request.headers.get('x-of-test') === 'id') return Promise.resolve(new Response(this.#id))
    if (request.url.endsWith('/tables')) {
      const names = "'value', 'events', 'lease', 'leases'"
      const tables = this.#state.storage.sql.exec(`SELECT name FROM sqlite_master WHERE name IN (${names})`)
      return Promise.resolve(Response.json(tables.toArray()))
    }
    if (!request.url.endsWith('/drop')) return super.fetch(request)
    for (const socket of this.#state.getWebSockets()) socket.close(1012)
    return Promise.resolve(new Response())
  }
}

interface Env {
  readonly STORE: ObjectNamespace
}

const prefixes = new Map<CloudflareStore, string>()
function open(env: Env, prefix: string): CloudflareStore {
  const store = durableObjectStore(env.STORE, { prefix })
  prefixes.set(store, prefix)
  return store
}

function casesOf(env: Env) {
  const prefixOf = (store: unknown) => prefixes.get(store as CloudflareStore) ?? ''
  return storeContract(() => open(env, crypto.randomUUID()), {
    timeout: 10_000,
    openSecond: (store) => open(env, prefixOf(store)),
    async interrupt(store) {
      for (const name of ['topic:t', 'events:s']) {
        const id = env.STORE.idFromName(prefixOf(store) + name)
        await env.STORE.get(id as never).fetch('https://store/drop')
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    },
    waitForDelivery: () => new Promise((resolve) => setTimeout(resolve, 300)),
  })
}

/** Returns how many tables objects have: at first, when all but a session in use has expired, and then. */
async function expire(env: Env) {
  const prefix = crypto.randomUUID()
  const store = durableObjectStore(env.STORE, { prefix, eventTtl: 1_500 })
  const names = ['session:unknown', 'events:unknown', 'task:unknown', 'session:a', 'events:s', 'task:t', 'leases']
  const countTables = () =>
    Promise.all(
      names.map(async (name) => {
        const object = env.STORE.get(env.STORE.idFromName(prefix + name) as never)
        const response = await object.fetch('https://store/tables')
        return JSON.parse(await response.text()).length as number
      }),
    )
  await store.sessions.get('unknown')
  await store.events.end('unknown')
  await store.tasks.renew('unknown', { owner: 'one', duration: 1 })
  await store.sessions.create('a', {}, 1_000)
  await store.events.append('s', 'x')
  await store.tasks.create('t', 'x', 1_500, { owner: 'one', duration: 60_000 })
  const stored = await countTables()
  // The session is used beyond its first alarm.
  let used = stored
  while (used.slice(4).some((count) => count > 0)) {
    await store.sessions.get('a', 2_000)
    await new Promise((resolve) => setTimeout(resolve, 100))
    used = await countTables()
  }
  let expired = used
  while (expired[3] !== 0) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    expired = await countTables()
  }
  return { stored, used, expired }
}

// biome-ignore lint/style/noDefaultExport: workerd reads a worker's handlers from its default export
export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/object') {
      // Another process uses the object.
      const object = env.STORE.get(env.STORE.idFromName(searchParams.get('name') ?? '') as never)
      return (object.fetch as unknown as (request: Request) => Promise<Response>)(request)
    }
    const name = searchParams.get('case')
    if (name === 'expiry') return Response.json(await expire(env))
    const found = casesOf(env).find((each) => each.name === name)
    if (found === undefined) return new Response(`there is no case ${name}`)
    return found.run().then(
      () => new Response('passed'),
      (error: Error) => new Response(error.message),
    )
  },
}
