/** The clients and servers of the features, by who made them. */

import { fileURLToPath } from 'node:url'
import { connectOurs } from './clients/ours.ts'
import { connectSdk1 } from './clients/sdk-1.ts'
import { connectSdk2 } from './clients/sdk-2.ts'
import type { ConnectClient, Target } from './driver.ts'
import { serveShop } from './servers/ours.ts'
import { serveSdk1OverHttp } from './servers/sdk-1.ts'
import { serveSdk2OverHttp } from './servers/sdk-2.ts'
import type { Way } from './ways.ts'

const clients: Readonly<Record<string, ConnectClient>> = {
  ours: connectOurs,
  'sdk-1': connectSdk1,
  'sdk-2': connectSdk2,
}

const PROGRAM = fileURLToPath(new URL('serve-stdio.ts', import.meta.url))

/** The servers that are reached by URL, one of each, for all who come. */
export interface Servers {
  readonly urls: Readonly<Record<string, string>>
  close(): Promise<void>
}

export async function openServers(): Promise<Servers> {
  const [ours, sdk1, sdk2] = await Promise.all([serveShop(), serveSdk1OverHttp(), serveSdk2OverHttp()])
  return {
    urls: { ours: ours.url, 'sdk-1': sdk1.url, 'sdk-2': sdk2.url },
    async close() {
      await Promise.all([ours.close(), sdk1.close(), sdk2.close()])
    },
  }
}

/** The client of a way, and where it has to go. */
export function endsOf(way: Way, { urls }: Servers): { connect: ConnectClient; target: Target } {
  const [client, server] = way.ours === 'client' ? (['ours', way.peer] as const) : ([way.peer, 'ours'] as const)
  const connect = clients[client] as ConnectClient
  const { carrier, revision } = way
  if (carrier === 'stdio') {
    return { connect, target: { carrier, revision, command: commandFor(server) } }
  }
  const url = urls[server] ?? ''
  return { connect, target: { carrier, revision, url: carrier === 'sse' ? url.replace('/mcp', '/sse') : url } }
}

/** The command line that starts a server of the shop. */
export function commandFor(server: string): readonly string[] {
  return [process.execPath, PROGRAM, server]
}
