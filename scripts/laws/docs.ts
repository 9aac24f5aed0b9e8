/** The prose names only what is there. */
import { posix } from 'node:path'
import type { Law, Violation } from './law.ts'
import type { Tree } from './tree.ts'

const topFolder = /^(?:packages|apps|scripts|conformance|docs|\.ci|\.changeset)\//
const fileWithFolder = /^[\w.*-]+(?:\/[\w.*-]+)+\.(?:ts|mts|mjs|js|json|md|yaml|yml|sh)$/
const made = /(?:^|\/)(?:dist|node_modules|\.cache|\.turbo|results)(?:\/|$)/

export const pathsInDocs: Law = {
  name: 'paths-in-docs',
  says: 'Each path that a document names in back quotes exists.',
  check: (tree) => documents(tree).flatMap((path) => checkQuoted(path, tree)),
}

function checkQuoted(path: string, tree: Tree): Violation[] {
  return prose(tree.read(path)).flatMap(({ text, line }) =>
    [...text.matchAll(/(?<!`)`([^`\s]+)`(?!`)/g)]
      .map((match) => (match[1] ?? '').replace(/:\d+$/, ''))
      .filter((quoted) => looksLikePath(quoted) && !exists(quoted, path, tree))
      .map((quoted) => ({ path, line, what: `names ${quoted}, which does not exist` })),
  )
}

function looksLikePath(quoted: string): boolean {
  if (/[<>…:$()'"@]/.test(quoted) || made.test(quoted)) return false
  return topFolder.test(quoted) || fileWithFolder.test(quoted)
}

/** A path from the root, or the end of one: `eras/select.ts` is in some package. */
function exists(quoted: string, document: string, tree: Tree): boolean {
  const plain = posix.normalize(quoted).replace(/^\.\/|\/$/g, '')
  const candidates = topFolder.test(quoted) ? [plain] : [plain, posix.join(posix.dirname(document), plain)]
  const pattern = plain.includes('*')
    ? new RegExp(
        `(?:^|/)${plain
          .split(/(\*\*?)/)
          .map(globPart)
          .join('')}(?:/|$)`,
      )
    : undefined
  return tree.files.some((file) => {
    if (pattern !== undefined) return pattern.test(file)
    if (candidates.some((each) => file === each || file.startsWith(`${each}/`))) return true
    return !topFolder.test(quoted) && file.endsWith(`/${plain}`)
  })
}

function globPart(part: string): string {
  if (part === '**') return '.*'
  return part === '*' ? '[^/]*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')
}

export const linksInDocs: Law = {
  name: 'links-in-docs',
  says: 'Each relative link in a document leads to a file.',
  check: (tree) => documents(tree).flatMap((path) => checkLinks(path, tree)),
}

function checkLinks(path: string, tree: Tree): Violation[] {
  return prose(tree.read(path)).flatMap(({ text, line }) =>
    [...text.matchAll(/\]\(<?([^)\s>]+)>?[^)]*\)|^\s*\[[^\]]+\]:\s*(\S+)/g)]
      .map((match) => match[1] ?? match[2] ?? '')
      .filter((link) => !/^(?:[a-z][a-z0-9+.-]*:|#|\/\/)/i.test(link))
      .filter((link) => {
        const target = posix.join(posix.dirname(path), decodeURI(link.replace(/[#?].*$/, ''))).replace(/\/$/, '')
        return target !== '.' && !tree.files.some((file) => file === target || file.startsWith(`${target}/`))
      })
      .map((link) => ({ path, line, what: `links to ${link}, which does not exist` })),
  )
}

export const anchorsInDocs: Law = {
  name: 'anchors-in-docs',
  says: 'Each link to a heading of a document leads to one.',
  check: (tree) => documents(tree).flatMap((path) => checkAnchors(path, tree)),
}

function checkAnchors(path: string, tree: Tree): Violation[] {
  return prose(tree.read(path)).flatMap(({ text, line }) =>
    [...text.matchAll(/\]\(([^)\s#:]*)#([^)\s]+)\)/g)]
      .map(([, link = '', anchor = '']) => ({
        target: link === '' ? path : posix.join(posix.dirname(path), link),
        anchor,
      }))
      .filter(({ target }) => target.endsWith('.md') && tree.files.includes(target))
      .filter(({ target, anchor }) => !headings(tree.read(target)).includes(anchor))
      .map(({ target, anchor }) => ({ path, line, what: `links to #${anchor}, which is no heading of ${target}` })),
  )
}

/** The names that readers of the repository give to headings: words in lower case with dashes between them. */
function headings(text: string): string[] {
  return prose(text)
    .flatMap(({ text: line }) => /^#+ +(.+)$/.exec(line)?.[1] ?? [])
    .map((title) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    )
}

/** Change logs speak of the past and may name what is gone. */
function documents(tree: Tree): string[] {
  return tree.files.filter((path) => path.endsWith('.md') && !/(?:^|\/)CHANGELOG\.md$|^\.changeset\//.test(path))
}

/** The lines of a document that are not in a fenced block. */
function prose(text: string): { text: string; line: number }[] {
  let fence: string | undefined
  return text.split('\n').flatMap((each, index) => {
    const mark = /^\s*(```+|~~~+)/.exec(each)?.[1]
    if (mark === undefined) return fence === undefined ? [{ text: each, line: index + 1 }] : []
    if (fence === undefined) fence = mark
    else if (mark.startsWith(fence)) fence = undefined
    return []
  })
}
