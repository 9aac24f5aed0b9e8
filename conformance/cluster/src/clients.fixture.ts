/** Clients of the tests: ours of both eras, and those of the official SDKs. */

import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { connectSdk1 } from '../../interop/src/clients/sdk-1.ts'
import { connectSdk2 } from '../../interop/src/clients/sdk-2.ts'
import type { Driver } from '../../interop/src/driver.ts'
// Node loads the official SDKs and their dependencies, whose condition `source` has no files that it can run.
import '../../transports/src/own-sources.fixture.ts'

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

interface CallOptions {
  readonly onProgress?: ((progress: number) => void) | undefined
}

/** The calls that all clients have. */
export interface TestClient {
  /** Calls a tool. Returns the text of its result. */
  call(name: string, args?: Record<string, string | number>, options?: CallOptions): Promise<string>
  /** Subscribes to resources and the list of tools. Calls the listener with URIs, and with `tools`. */
  listen(uris: readonly string[], onChange: (change: string) => void): Promise<void>
  close(): Promise<void>
}

export type ClientName = keyof typeof connectBy

export const connectBy = {
  'our client, legacy era': (url: string, fetch?: Fetch) => connectOurs('legacy', url, fetch),
  'our client, modern era': (url: string, fetch?: Fetch) => connectOurs('modern', url, fetch),
  'official SDK 1, legacy era': async (url: string, fetch?: Fetch) => {
    return fromDriver(await connectSdk1({ transport: 'http', url, ...(fetch && { fetch }) }))
  },
  'official SDK 2, legacy era': async (url: string, fetch?: Fetch) => {
    return fromDriver(await connectSdk2({ transport: 'http', url, revision: '2025-11-25', ...(fetch && { fetch }) }))
  },
  'official SDK 2, modern era': async (url: string, fetch?: Fetch) => {
    return fromDriver(await connectSdk2({ transport: 'http', url, revision: '2026-07-28', ...(fetch && { fetch }) }))
  },
} as const satisfies Record<string, (url: string, fetch?: Fetch) => Promise<TestClient>>

async function connectOurs(era: 'legacy' | 'modern', url: string, fetch?: Fetch): Promise<TestClient> {
  const reconnect = { minDelay: 50, maxDelay: 1_000, attempts: 20 }
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
      await driver.watchTools()
      for (const uri of uris) await driver.watch(uri)
      const { updated, lists } = driver.received
      updated.push = (...values) => {
        values.forEach(onChange)
        return 0
      }
      lists.push = updated.push
    },
    close: () => driver.close(),
  }
}

function textOf({ content }: { content?: readonly { type: string }[] }): string {
  const [block] = content ?? []
  return block !== undefined && 'text' in block ? String(block.text) : ''
}
