/**
 * Finds out which era a server speaks, and speaks it. Deleting the `legacy*` files and every line that names one
 * leaves a client of the modern era.
 */

import { check, DiscoverResult, type Era, eraOf, isRevision, type Revision } from '@mcpx/protocol'
import type { Core } from '../core.ts'
import { guarded, type Line, openLine, type Target } from '../line.ts'
import type { EraMemory } from '../options.ts'
import type { Link } from './era.ts'
import { discover, openModern } from './modern.ts'
import type { Finding, Probe } from './modern-finding.ts'
import { mutualRevision } from './modern-send.ts'

/** Loaded by the first server that is this old. */
const openLegacy = async (...args: LegacyArgs) => (await import('./legacy.ts')).openLegacy(...args)
type LegacyArgs = Parameters<typeof import('./legacy.ts').openLegacy>

/** Loaded by the first server that does not speak the modern era at once. */
const loadFinding = () => import('./modern-finding.ts')
const ifStillLegacy: IfStillLegacy = async (...args) => (await loadFinding()).ifStillSpoken(...args)
type IfStillLegacy = typeof import('./modern-finding.ts').ifStillSpoken

/** How long a server may take to show its era, in ms, unless the connector says otherwise. */
const PROBE_TIMEOUT = 5_000

/** Connects and makes the connection speak. What the era turned out to be is remembered for the next time. */
export async function openLink(core: Core, target: Target, memory: EraMemory, signal?: AbortSignal): Promise<Link> {
  const { era: pin = 'auto' } = core.options
  const revision = isRevision(pin) ? pin : undefined
  const wanted = revision === undefined ? (pin as 'auto' | Era) : eraOf(revision)
  const { peer, probeTimeout = PROBE_TIMEOUT, silence } = 'respond' in target ? {} : target
  const memo = wanted === 'auto' && peer !== undefined ? recall(memory, peer) : undefined
  const open = () => openLine(target, core.report, signal)
  const remembered = await memo?.get()
  let known = undefined as Link | undefined
  if (wanted === 'legacy') return guarded(await open(), (line) => openLegacy(core, line, revision))
  if (remembered === 'legacy') known = await ifStillLegacy(open, silence, (line) => openLegacy(core, line))
  if (known !== undefined) return known
  const found = await probe(core, await open(), { silence, limit: wanted === 'auto' ? probeTimeout : undefined })
  if ('era' in found) {
    await memo?.set(found.era)
    return found
  }
  const { fallBack, notModern, wasSilent } = await loadFinding()
  let older = undefined as Link | undefined
  if (wanted === 'auto') older = await fallBack(open, found, (line) => openLegacy(core, line, found.offer))
  if (older === undefined) throw await notModern(found)
  await memo?.set(wasSilent(found) ? undefined : older.era)
  return older
}

function recall(memory: EraMemory, peer: string) {
  return { get: () => memory.get(peer), set: (era: Era | undefined) => memory.set(peer, era) }
}

async function probe(core: Core, line: Line, bounds: Probe): Promise<Link | Finding> {
  return guarded(line, async () => {
    let agreed: Revision | undefined
    let result: unknown
    try {
      result = await discover(core, line, undefined, bounds.limit)
    } catch (error) {
      const { readRefusal } = await loadFinding()
      const read = readRefusal(line, error, bounds)
      if ('evidence' in read) return read
      agreed = read.agreed
      result = await discover(core, line, agreed, bounds.limit)
    }
    const { value, problem } = check(DiscoverResult, result, 'result')
    const revision = value && (mutualRevision(value.supportedVersions) ?? agreed)
    if (revision === undefined) return (await loadFinding()).readOther(line, result, problem)
    line.listener = { hear: core.hear }
    return openModern(core, line, value as DiscoverResult, revision)
  })
}
