/** All rules of the architecture. */
import { links, paths, places } from './documents.ts'
import { dependencies, direction, eras, finished, manifests, neutral } from './packages.ts'
import type { Rule } from './repository.ts'

export const rules: readonly Rule[] = [
  direction,
  eras,
  dependencies,
  neutral,
  manifests,
  finished,
  paths,
  links,
  places,
]
