/** The kinds of connections under load. Each kind has a function that connects. */

import { type Client, connect, createEraMemory } from '@mcpx/client'
import type { Connector, Revision } from '@mcpx/protocol'
import { faults } from '@mcpx/testing/server'
import { http } from '@mcpx/transport-http/client'
import { spawn } from '@mcpx/transport-stdio'
import { flags, program } from './processes.ts'
import { LONGEST_OPERATION } from './tally.ts'

/** The servers that clients connect to. */
export interface Targets {
  /** The endpoint that runs all the time. */
  readonly steady: string
  /** The endpoint whose process is killed and started again. It shares the state of the first endpoint. */
  readonly killed: string
}

export interface Kind {
  readonly name: string
  readonly revision: Revision
  readonly over: 'http' | 'http+sse' | 'stdio'
  readonly target: keyof Targets
  /** Whether requests are delayed, cut and repeated. */
  readonly isFaulty: boolean
  /** The number of connections of this kind, per 100 connections. */
  readonly share: number
}

/** Returns whether a fault may break a connection. */
export function mayBreak({ isFaulty, target }: Kind): boolean {
  return isFaulty || target === 'killed'
}

const MODERN = '2026-07-28'
const LATEST_LEGACY = '2025-11-25'
const OLDEST = '2024-11-05'

const plain: readonly Omit<Kind, 'target' | 'isFaulty'>[] = [
  { name: 'modern, HTTP', revision: MODERN, over: 'http', share: 34 },
  { name: '2025-11-25, HTTP', revision: LATEST_LEGACY, over: 'http', share: 26 },
  { name: '2025-06-18, HTTP', revision: '2025-06-18', over: 'http', share: 8 },
  { name: '2025-03-26, HTTP', revision: '2025-03-26', over: 'http', share: 8 },
  { name: '2024-11-05, HTTP+SSE', revision: OLDEST, over: 'http+sse', share: 20 },
  { name: 'modern, stdio', revision: MODERN, over: 'stdio', share: 2 },
  { name: '2025-11-25, stdio', revision: LATEST_LEGACY, over: 'stdio', share: 2 },
]

/**
 * Returns the kinds of all connections. With faults, half of the HTTP connections are faulty, or use the server that is
 * killed.
 */
export function distribute(connections: number, withFaults: boolean): Kind[] {
  const kinds = plain.flatMap((each): Kind[] => {
    const steady: Kind = { ...each, target: 'steady', isFaulty: false }
    if (!withFaults) return [steady]
    if (each.over === 'stdio') return [steady, { ...steady, target: 'killed', name: `${each.name}, killed server` }]
    const share = each.share / 4
    return [
      { ...steady, share: 2 * share },
      { ...steady, isFaulty: true, name: `${each.name}, faults`, share },
      { ...steady, target: 'killed', name: `${each.name}, killed server`, share },
    ]
  })
  // Processes are expensive, so there are only two connections over stdio.
  const counts = kinds.map(({ over, share }) => (over === 'stdio' ? 1 : Math.round((connections * share) / 100)))
  const all = kinds.flatMap((kind, index) => Array.from({ length: Math.max(1, counts[index] ?? 0) }, () => kind))
  const first = all.find(({ over }) => over === 'http') as Kind
  while (all.length < connections) all.push(first)
  while (all.length > connections) all.splice(all.indexOf(first), 1)
  return all
}

/** Connects a client that answers every question with the name "Ada". */
export function connectClient(
  kind: Kind,
  targets: Targets,
  seed: number,
  onWarning: (warning: Error) => void,
): Promise<Client> {
  const connector = createConnector(kind, targets)
  const options = { cut: 0.02, delay: [0, 30], duplicate: 0.1, reorder: 0.05, seed } as const
  return connect(kind.isFaulty ? faults(connector, options) : connector, {
    era: kind.revision,
    eraMemory: createEraMemory(),
    timeout: LONGEST_OPERATION / 2,
    connectTimeout: LONGEST_OPERATION / 2,
    onElicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
    onWarning,
  })
}

function createConnector({ over, target }: Kind, targets: Targets): Connector {
  if (over === 'stdio') {
    const restart = { delay: 50, maxDelay: 500 }
    return spawn(process.execPath, [...flags, program, '{}'], { stderr: 'ignore', probeTimeout: 60_000, restart })
  }
  const url = over === 'http' ? targets[target] : targets[target].replace(/\/mcp$/, '/sse')
  return http(url, { probeTimeout: 60_000, reconnect: { minDelay: 50, maxDelay: 1_000, attempts: 30 } })
}
