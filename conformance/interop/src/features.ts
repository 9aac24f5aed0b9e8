/** All features that are checked between an official SDK and ours. */

import type { Features } from './feature.ts'
import { brokenConnections } from './features/broken-connections.ts'
import { calls } from './features/calls.ts'
import { resources } from './features/resources.ts'
import { tools } from './features/tools.ts'

export const features: Features = { ...tools, ...resources, ...calls, ...brokenConnections }
