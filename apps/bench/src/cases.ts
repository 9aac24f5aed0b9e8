/** All cases, in the order they run. A new one is a file in cases/ and a line here. */
import type { Case } from './case.ts'
import { bundle } from './cases/bundle.ts'
import { calls } from './cases/calls.ts'
import { codec } from './cases/codec.ts'
import { duplex } from './cases/duplex.ts'
import { sse } from './cases/sse.ts'

export const cases: readonly Case[] = [duplex, calls, codec, sse, bundle]
