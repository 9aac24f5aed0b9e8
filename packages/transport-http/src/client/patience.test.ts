import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { modern, reach, result, serve } from './peer.fixture.ts'

/** What sends the requests of `fetch` of this runtime. */
interface Dispatcher {
  dispatch(options: object, handler: object): unknown
}

const SLOT = Symbol.for('undici.globalDispatcher.1')
const runtime = globalThis as unknown as Record<symbol, Dispatcher>
let before: Dispatcher
let dispatched: object[]

/** Passes on what it is given, and remembers it. */
function recording(seen: object[]): Dispatcher {
  return {
    dispatch(options, handler) {
      seen.push(options)
      return before.dispatch(options, handler)
    },
  }
}

beforeEach(async () => {
  await fetch('data:,')
  before = runtime[SLOT] as Dispatcher
  dispatched = []
  runtime[SLOT] = recording(dispatched)
})
afterEach(() => {
  runtime[SLOT] = before
})

async function ask(options: Parameters<typeof reach>[1]) {
  const { url } = await serve((one, response) => result(response, one, {}))
  const { connection } = await reach(url, options)
  expect(await connection.request('a', modern())).toEqual({})
}

describe("the runtime's own fetch", () => {
  it('is told to wait, and sends by what its user has set for all requests', async () => {
    await ask({})
    expect(dispatched).toMatchObject([{ method: 'POST', headersTimeout: 0, bodyTimeout: 0 }])
    const others: object[] = []
    runtime[SLOT] = recording(others)
    await ask({})
    expect([dispatched.length, others.length]).toEqual([1, 1])
  })

  it('is told to wait with the first request of a process, when Node has not loaded what sends it', async () => {
    const { url } = await serve((one, response) => result(response, one, {}))
    const program = fileURLToPath(new URL('./first-request.fixture.ts', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=source', program, url])
    expect(JSON.parse(stdout)).toEqual({ isLoaded: false, limits: [[0, 0]] })
  })

  it('waits as its user says who passes a dispatcher', async () => {
    const own: object[] = []
    await ask({ init: { dispatcher: recording(own) } as RequestInit })
    expect(dispatched).toEqual([])
    expect(own).toHaveLength(1)
    expect(own[0]).not.toHaveProperty('headersTimeout')
  })

  it('is told nothing by way of a fetch of the user', async () => {
    const inits: (RequestInit | undefined)[] = []
    await ask({
      fetch: (input, init) => {
        inits.push(init)
        return fetch(input, init)
      },
    })
    expect(inits[0]).not.toHaveProperty('dispatcher')
    expect(dispatched[0]).not.toHaveProperty('headersTimeout')
  })
})
