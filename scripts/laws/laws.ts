/** All laws, in the order they are checked. */
import { dependencies } from './dependencies.ts'
import { direction, testkitInTests } from './direction.ts'
import { anchorsInDocs, linksInDocs, pathsInDocs } from './docs.ts'
import type { Law } from './law.ts'
import { noMachine } from './machine.ts'
import { entryPoints, manifests, publishedExports, wholeBuild } from './manifests.ts'
import { neutral } from './neutral.ts'
import { namedExports, nothingLeftOver } from './sources.ts'

export const laws: readonly Law[] = [
  direction,
  testkitInTests,
  dependencies,
  neutral,
  namedExports,
  nothingLeftOver,
  manifests,
  entryPoints,
  publishedExports,
  wholeBuild,
  pathsInDocs,
  linksInDocs,
  anchorsInDocs,
  noMachine,
]
