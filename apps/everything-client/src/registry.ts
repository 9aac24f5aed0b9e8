/** All scenarios that this client can play. */
import { auth } from './auth.ts'
import { basics } from './basics.ts'
import { headers } from './headers.ts'
import { questions } from './questions.ts'
import type { Scenarios } from './scenario.ts'
import { schemas } from './schemas.ts'

export const registry: Scenarios = { ...basics, ...questions, ...headers, ...schemas, ...auth }
