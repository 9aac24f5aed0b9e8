/** What a document tells its reader to install, and what its code needs. */

/** Returns the packages that `npm install` names, without options and comments. */
export function installedBy(commands: string): string[] {
  const lists = [...commands.matchAll(/^npm install ([^#\n]+)/gm)].map((match) => (match[1] ?? '').trim().split(/\s+/))
  return [...new Set(lists.flat().filter((word) => !word.startsWith('-')))]
}

/** The packages that code imports; what Node has, and files beside it, are none. */
export function importedBy(code: string): string[] {
  const specifiers = [...code.matchAll(/^(?:import|export) (?:[^'\n]*? from )?'([^'./][^']*)'/gm)].map(
    (match) => match[1] ?? '',
  )
  const names = specifiers
    .filter((each) => !each.startsWith('node:'))
    .map((each) => each.split('/', each.startsWith('@') ? 2 : 1).join('/'))
  return [...new Set(names)]
}
