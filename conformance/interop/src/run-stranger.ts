/** Tries everything with one server or client from npm. */

import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { strangerException } from './exceptions.ts'
import { versionOf } from './package-versions.ts'
import { commandFor, type Servers } from './peers.ts'
import type { Check, Stranger } from './strangers/stranger.ts'
import { type Cell, judge, outcomeOf } from './verdict.ts'

export interface StrangerResults {
  readonly package: string
  readonly version: string
  readonly is: Stranger['is']
  readonly over: string
  readonly cells: readonly Cell[]
}

/** How long one check may take, and how long all of one stranger, in ms. */
const LIMIT = 15_000
const WHOLE_LIMIT = 60_000

export async function runStranger(stranger: Stranger, { urls }: Servers): Promise<StrangerResults> {
  const { package: name, is, over } = stranger
  const cells: Cell[] = []
  const check: Check = async (what, body) => {
    const error = await outcomeOf(body(), LIMIT)
    cells.push({ what, ...judge(error, strangerException(name, over, what)) })
  }
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'interop-')))
  const ground = { url: urls.ours ?? '', command: commandFor('ours'), folder }
  try {
    const error = await outcomeOf(stranger.run(check, ground), WHOLE_LIMIT)
    if (error !== undefined) cells.push({ what: 'starts, connects and ends', ...judge(error, undefined) })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { package: name, version: versionOf(name), is, over, cells }
}
