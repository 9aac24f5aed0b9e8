/** What files may be called. */
import type { Law } from './law.ts'

const kebab = /^\.?[a-z0-9]+(?:[-.][a-z0-9]+)*$/
const vague = /^(?:utils?|helpers?|common|types|misc)$/

export const kebabCase: Law = {
  name: 'kebab-case',
  says: 'Files and folders of sources are named in kebab-case.',
  check: (tree) =>
    tree.sources
      .filter(({ path }) => path.split('/').some((part) => !kebab.test(part)))
      .map(({ path }) => ({ path, what: 'is not in kebab-case' })),
}

export const tellingNames: Law = {
  name: 'telling-names',
  says: 'A file name answers "what is in here?": no utils, helpers, common, types or misc.',
  check: (tree) =>
    tree.sources
      .filter(({ path }) => path.split('/').some((part) => vague.test(part.split('.')[0] ?? '')))
      .map(({ path }) => ({ path, what: 'says nothing: name it after what is in it' })),
}
