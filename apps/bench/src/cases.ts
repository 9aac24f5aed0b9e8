/** All cases in their order. To add a case, add a file in cases/ and a line here. */
import type { Case } from './case.ts'
import { bundle } from './cases/bundle.ts'
import { calls } from './cases/calls.ts'
import { codec } from './cases/codec.ts'
import { duplex } from './cases/duplex.ts'
import { fetch } from './cases/fetch.ts'
import { footprint } from './cases/footprint.ts'
import { growth } from './cases/growth.ts'
import { allocations, heap, leftovers } from './cases/heap.ts'
import { events, http } from './cases/http.ts'
import { maps } from './cases/maps.ts'
import { nodes } from './cases/nodes.ts'
import { progress, requests, results } from './cases/payloads.ts'
import { memory, setups, streams } from './cases/sessions.ts'
import { sse } from './cases/sse.ts'
import { httpstart, imported, modules } from './cases/starts.ts'
import { coldstart, stdio } from './cases/stdio.ts'
import { store } from './cases/store.ts'
import { telemetry } from './cases/telemetry.ts'

export const cases: readonly Case[] = [
  ...[http, events, setups, memory, streams, progress, results, requests, store, nodes],
  ...[stdio, coldstart, httpstart, imported, modules, bundle, footprint],
  ...[fetch, calls, telemetry, duplex, codec, sse, maps],
  ...[growth, heap, allocations, leftovers],
]
