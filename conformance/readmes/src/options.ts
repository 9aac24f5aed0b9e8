/** The options that a source file declares, with the defaults that their comments name. */
import { readFileSync } from 'node:fs'
import { pathOf } from './documents.ts'

export interface Option {
  readonly name: string
  /** The number that the comment says is the default; nothing where it is no number. */
  readonly number: string | undefined
}

/** The members of an interface, those of its own file's interfaces that it extends left out. */
export function optionsOf(file: string, interfaceName: string): Option[] {
  const source = readFileSync(pathOf(file), 'utf8')
  const body = new RegExp(`export interface ${interfaceName}\\b[^{]*\\{\\n(.*?)\\n\\}`, 's').exec(source)?.[1]
  if (body === undefined) throw new Error(`${file} has no interface ${interfaceName}`)
  const members = [...body.matchAll(/^ {2}(?:\/\*\*(.*?)\*\/\n {2})?(?:readonly )?(\w+)\??[:(]/gms)]
  return members.map(([, comment = '', name = '']) => ({
    name,
    number: /Default: (\d[\d,]*)\b(?!\.\w)/.exec(comment.replace(/\s*\n\s*\* ?/g, ' '))?.[1],
  }))
}

/** The lines of tables that are about an option of this name; options may share one. */
export function rowsOf(readme: string, name: string): string[] {
  const named = new RegExp(`^\\|[^|]*\`(?:\\w+\\.)?${name}(?:\\.\\w+|\\(\\w*\\))?\`[^|]*\\|`)
  return readme.split('\n').filter((line) => named.test(line))
}
