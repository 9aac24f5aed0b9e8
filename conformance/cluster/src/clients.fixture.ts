/** The clients of the tests: our client in both eras, and the clients of the official SDKs. */

import { connect } from '@mcpx/client'
import { delay } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { connectSdk1 } from '../../interop/src/clients/sdk-1.ts'
import { connectSdk2 } from '../../interop/src/clients/sdk-2.ts'
import type { Driver, Target } from '../../interop/src/driver.ts'
// Node loads the official SDKs and their dependencies without the condition `source`, because it cannot run the files
// of that condition.
import '../../transports/src/own-sources.fixture.ts'
import { TOOLS } from './watch.fixture.ts'

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

interface CallOptions {
  readonly onProgress?: ((progress: number) => void) | undefined
}

/** The methods that all clients have. */
export interface TestClient {
  /** Calls a tool. Returns the text of its result. */
  call(name: string, args?: Record<string, string | number>, options?: CallOptions): Promise<string>
  /**
   * Subscribes to resources and the list of tools. Calls the listener with changed URIs, and with `tools`. After a gap,
   * calls it with all URIs and with `tools`.
   */
  listen(uris: readonly string[], onChange: (change: string) => void): Promise<void>
  close(): Promise<void>
}

export type ClientName = keyof typeof connectBy

export const connectBy = {
  'our client, legacy era': (url: string, fetch?: Fetch) => connectOurs('legacy', url, fetch),
  'our client, modern era': (url: string, fetch?: Fetch) => connectOurs('modern', url, fetch),
  'our client, HTTP+SSE': (url: string, fetch?: Fetch) => connectOurs('legacy', sseUrl(url), fetch),
  'official SDK 1, legacy era': async (url: string, fetch?: Fetch) => {
    return fromDriver(await connectSdk1(targetOf(url, fetch)))
  },
  'official SDK 1, HTTP+SSE': async (url: string, fetch?: Fetch) => {
    return fromDriver(await connectSdk1({ ...targetOf(sseUrl(url), fetch), transport: 'sse' }))
  },
  'official SDK 2, legacy era': async (url: string, fetch?: Fetch) => {
    return fromDriver(await connectSdk2({ ...targetOf(url, fetch), revision: '2025-11-25' }))
  },
  'official SDK 2, modern era': async (url: string, fetch?: Fetch) => {
    return fromDriver(await connectSdk2({ ...targetOf(url, fetch), revision: '2026-07-28' }))
  },
} as const satisfies Record<string, (url: string, fetch?: Fetch) => Promise<TestClient>>

/** The URL of the transport of 2024-11-05. */
function sseUrl(url: string): string {
  return url.replace(/mcp$/, 'sse')
}

/** How often each client tries to open a lost stream again. */
const ATTEMPTS = 20

function targetOf(url: string, fetch?: Fetch): Target {
  return { transport: 'http', url, retries: ATTEMPTS, ...(fetch && { fetch }) }
}

async function connectOurs(era: 'legacy' | 'modern', url: string, fetch?: Fetch): Promise<TestClient> {
  const reconnect = { minDelay: 50, maxDelay: 1_000, attempts: ATTEMPTS }
  const client = await connect(http(url, { fetch, reconnect }), {
    era,
    timeout: 20_000,
    onElicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
  })
  return {
    async call(name, args = {}, { onProgress } = {}) {
      const listener = onProgress && (({ progress }: { progress: number }) => onProgress(progress))
      return textOf(await client.callTool(name, args, { onProgress: listener }))
    },
    async listen(resourceSubscriptions, onChange) {
      const listening = client.listen({ toolsListChanged: true, resourceSubscriptions: [...resourceSubscriptions] })
      await listening.ready
      void (async () => {
        for await (const change of listening) onChange(change.kind === 'resource' ? change.uri : change.kind)
      })()
    },
    close: () => client.close(),
  }
}

function fromDriver(driver: Driver): TestClient {
  return {
    async call(name, args = {}, { onProgress } = {}) {
      const options = onProgress && { onProgress: ({ progress }: { progress: number }) => onProgress(progress) }
      return textOf(await driver.callTool(name, args, options))
    },
    async listen(uris, onChange) {
      const { updated, lists } = driver.received
      updated.push = lists.push = (...values) => {
        values.forEach(onChange)
        return 0
      }
      await keepListening(driver, uris, () => [TOOLS, ...uris].forEach(onChange))
    },
    close: () => driver.close(),
  }
}

/**
 * Subscribes, and subscribes again whenever the server has ended the subscription, as the official SDK 2 requires.
 * @param onGap called when changes may have been missed
 */
async function keepListening(driver: Driver, uris: readonly string[], onGap: () => void): Promise<void> {
  const subscription = await driver.listen?.(uris)
  void subscription?.closed?.then(async (side) => {
    for (let attempt = 1; side !== 'local' && attempt <= ATTEMPTS; attempt++) {
      try {
        await keepListening(driver, uris, onGap)
        return onGap()
      } catch {
        await delay(200)
      }
    }
  })
}

function textOf({ content }: { content?: readonly { type: string }[] }): string {
  const [block] = content ?? []
  return block !== undefined && 'text' in block ? String(block.text) : ''
}
