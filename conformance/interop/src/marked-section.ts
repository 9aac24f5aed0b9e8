/** A part of a document that is written by a program, between two comments that name it. */

const begin = (name: string) => `<!-- begin: ${name} -->`
const end = (name: string) => `<!-- end: ${name} -->`

/** The document with another text between the comments. Throws when they are not there. */
export function withSection(document: string, name: string, text: string): string {
  const [before, rest] = cut(document, begin(name))
  const [, after] = cut(rest, end(name))
  return `${before}${begin(name)}\n\n${text.trim()}\n\n${end(name)}${after}`
}

function cut(text: string, at: string): [string, string] {
  const index = text.indexOf(at)
  if (index < 0) throw new Error(`There is no ${at} in the document: put it where the section belongs`)
  return [text.slice(0, index), text.slice(index + at.length)]
}
