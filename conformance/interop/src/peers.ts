/** The clients and servers of the pairings, by their SDK. */

import { fileURLToPath } from 'node:url'
import { connectOurs } from './clients/ours.ts'
import { connectSdk1 } from './clients/sdk-1.ts'
import { connectSdk2 } from './clients/sdk-2.ts'
import type { ConnectClient, Target } from './driver.ts'
import type { Pairing } from './pairings.ts'
import { serveShop } from './servers/ours.ts'
import { serveSdk1OverHttp } from './servers/sdk-1.ts'
import { serveSdk2OverHttp } from './servers/sdk-2.ts'

const clients: Readonly<Record<string, ConnectClient>> = {
  ours: connectOurs,
  'sdk-1': connectSdk1,
  'sdk-2': connectSdk2,
}

const PROGRAM = fileURLToPath(new URL('serve-stdio.ts', import.meta.url))

/** The HTTP servers, one per SDK, shared by all pairings. */
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

/** Returns the client of a pairing and its target. */
export function endsOf(pairing: Pairing, { urls }: Servers): { connect: ConnectClient; target: Target } {
  const [client, server] =
    pairing.ours === 'client' ? (['ours', pairing.peer] as const) : ([pairing.peer, 'ours'] as const)
  const connect = clients[client] as ConnectClient
  const { transport, revision } = pairing
  if (transport === 'stdio') {
    return { connect, target: { transport, revision, command: commandFor(server) } }
  }
  const url = urls[server] ?? ''
  return { connect, target: { transport, revision, url: transport === 'sse' ? url.replace('/mcp', '/sse') : url } }
}

/** Returns the command line of a shop server. */
export function commandFor(server: string): readonly string[] {
  return [process.execPath, PROGRAM, server]
}
