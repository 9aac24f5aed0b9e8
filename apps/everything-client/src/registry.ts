/** All scenarios that this client supports. */
import { auth } from './auth.ts'
import { basics } from './basics.ts'
import { headers } from './headers.ts'
import { inputRequests } from './input-requests.ts'
import type { Scenarios } from './scenario.ts'
import { schemas } from './schemas.ts'
import { skillScenarios } from './skills.ts'

export const registry: Scenarios = { ...basics, ...inputRequests, ...headers, ...schemas, ...skillScenarios, ...auth }
