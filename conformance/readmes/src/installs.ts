/** The packages that a document installs, and the packages that its code imports. */

/** Returns the packages in `npm install` commands, without options and comments. */
export function installedBy(commands: string): string[] {
  const lists = [...commands.matchAll(/^npm install ([^#\n]+)/gm)].map((match) => (match[1] ?? '').trim().split(/\s+/))
  return [...new Set(lists.flat().filter((word) => !word.startsWith('-')))]
}

/** Returns the imported packages, without Node modules and relative files. */
export function importedBy(code: string): string[] {
  const specifiers = [...code.matchAll(/^(?:import|export) (?:[^'\n]*? from )?'([^'./][^']*)'/gm)].map(
    (match) => match[1] ?? '',
  )
  const names = specifiers
    .filter((each) => !each.startsWith('node:'))
    .map((each) => each.split('/', each.startsWith('@') ? 2 : 1).join('/'))
  return [...new Set(names)]
}
