/** All laws, in the order they are checked. */
import { dependencies } from './dependencies.ts'
import { direction, testkitInTests } from './direction.ts'
import { anchorsInDocs, linksInDocs, pathsInDocs } from './docs.ts'
import { eraFiles, modernEntries, revisionLiterals } from './eras.ts'
import type { Law } from './law.ts'
import { noMachine } from './machine.ts'
import { entryPoints, manifests, publishedExports, wholeBuild } from './manifests.ts'
import { kebabCase, tellingNames } from './names.ts'
import { neutral } from './neutral.ts'
import { fileSize } from './size.ts'
import {
  namedExports,
  noInheritance,
  noSilencedTests,
  nothingLeftOver,
  noWayRound,
  openingSentence,
} from './sources.ts'

export const laws: readonly Law[] = [
  direction,
  testkitInTests,
  dependencies,
  eraFiles,
  modernEntries,
  revisionLiterals,
  neutral,
  fileSize,
  kebabCase,
  tellingNames,
  namedExports,
  noInheritance,
  openingSentence,
  nothingLeftOver,
  noWayRound,
  noSilencedTests,
  manifests,
  entryPoints,
  publishedExports,
  wholeBuild,
  pathsInDocs,
  linksInDocs,
  anchorsInDocs,
  noMachine,
]
