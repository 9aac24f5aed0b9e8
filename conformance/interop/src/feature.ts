/** One thing that a client and a server do together, the same for all of them. */

import assert from 'node:assert/strict'
import type { CallToolResult } from '@mcpx/protocol'
import type { Driver, Fetch } from './driver.ts'
import type { Way } from './ways.ts'

export interface Rig {
  readonly way: Way
  /** A connection that all features of this way share. */
  readonly driver: Driver
  /** Where the server is, if it is reached by URL. */
  readonly url: string
  /** One more connection; it is closed when the feature is over. */
  connect(options?: { readonly fetch?: Fetch; readonly findOut?: boolean }): Promise<Driver>
}

export interface Feature {
  /** The first revision that has it. */
  readonly since?: string
  /** The last revision that has it. */
  readonly until?: string
  readonly carriers?: readonly Way['carrier'][]
  run(rig: Rig): Promise<void>
}

/** Names are sentences about client and server. */
export type Features = Readonly<Record<string, Feature>>

/** How long something that is to be heard may take, in ms. */
const PATIENCE = 4_000

/** Waits until a condition holds, and tries something again and again meanwhile. */
export async function eventually(
  what: string,
  holds: () => boolean,
  meanwhile: () => unknown = () => {},
): Promise<void> {
  const end = performance.now() + PATIENCE
  while (!holds()) {
    assert.ok(performance.now() < end, `${what}: it did not happen within ${PATIENCE} ms`)
    await meanwhile()
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
}

/** Waits for what should not come, as long as it might take. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 60))
}

export function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : block.type)).join()
}

/** The promise rejects with one of these codes of the protocol, as far as this client tells. */
export async function refusedWith(promise: Promise<unknown>, ...codes: readonly number[]): Promise<void> {
  const outcome = await promise.then(
    (result) => ({ result }),
    (error: Error & { code?: unknown }) => ({ error }),
  )
  if ('result' in outcome) {
    assert.fail(`it was not refused, but answered ${JSON.stringify(outcome.result).slice(0, 200)}`)
  }
  const { code, message } = outcome.error
  assert.ok((codes as readonly unknown[]).includes(code), `it was refused with ${code}: ${message}`)
}
