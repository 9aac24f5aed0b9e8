/** The type of a feature: a check of a client and a server, the same for all pairings. */

import assert from 'node:assert/strict'
import type { CallToolResult } from '@mcpx/protocol'
import type { Driver, Fetch } from './driver.ts'
import type { Pairing } from './pairings.ts'

export interface Rig {
  readonly pairing: Pairing
  /** The connection that all features of this pairing share. */
  readonly driver: Driver
  /** The URL of the server; empty over stdio. */
  readonly url: string
  /** Opens another connection, which is closed after the feature. */
  connect(options?: { readonly fetch?: Fetch; readonly detectRevision?: boolean }): Promise<Driver>
}

export interface Feature {
  /** The first revision that has the feature. */
  readonly since?: string
  /** The last revision that has the feature. */
  readonly until?: string
  readonly transports?: readonly Pairing['transport'][]
  run(rig: Rig): Promise<void>
}

/** Features by their names, which are sentences. */
export type Features = Readonly<Record<string, Feature>>

/** The timeout of `eventually`, in milliseconds. */
const TIMEOUT = 4_000

/** Waits until a condition is true, and calls `meanwhile` repeatedly. */
export async function eventually(
  description: string,
  condition: () => boolean,
  meanwhile: () => unknown = () => {},
): Promise<void> {
  const end = performance.now() + TIMEOUT
  while (!condition()) {
    assert.ok(performance.now() < end, `${description}: it did not happen within ${TIMEOUT} ms`)
    await meanwhile()
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
}

/** Waits a moment for messages that are not expected. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 60))
}

export function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : block.type)).join()
}

/** Checks that the promise rejects with one of these error codes. */
export async function expectError(promise: Promise<unknown>, ...codes: readonly number[]): Promise<void> {
  const outcome = await promise.then(
    (result) => ({ result }),
    (error: Error & { code?: unknown }) => ({ error }),
  )
  if ('result' in outcome) {
    assert.fail(`expected an error, got the result ${JSON.stringify(outcome.result).slice(0, 200)}`)
  }
  const { code, message } = outcome.error
  assert.ok(
    (codes as readonly unknown[]).includes(code),
    `expected an error with the code ${codes.join(' or ')}, got ${code}: ${message}`,
  )
}
