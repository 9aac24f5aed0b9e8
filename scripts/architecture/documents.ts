/** Rules for documents: paths, links and headings exist, and no file names a machine or a package registry. */
import { posix } from 'node:path'
import type { Repository, Rule, Violation } from './repository.ts'

const topFolder = /^(?:packages|apps|scripts|conformance|docs|\.ci|\.changeset)\//
const fileInFolder = /^[\w.*-]+(?:\/[\w.*-]+)+\.(?:ts|mts|mjs|js|json|md|yaml|yml|sh)$/
const generated = /(?:^|\/)(?:dist|node_modules|\.cache|\.turbo|results)(?:\/|$)|^docs\/reference(?:\/|$)/

export const paths: Rule = {
  name: 'paths',
  says: 'Each path that a document names in back quotes exists.',
  check: (repository) =>
    linesOfDocuments(repository).flatMap(({ path, line, text }) =>
      [...text.matchAll(/(?<!`)`([^`\s]+)`(?!`)/g)]
        .map(([, quoted = '']) => quoted.replace(/:\d+$/, ''))
        .filter((quoted) => isPath(quoted) && !pathExists(quoted, path, repository.files))
        .map((quoted) => ({ path, line, what: `names ${quoted}, which does not exist` })),
    ),
}

function isPath(quoted: string): boolean {
  if (/[<>…:$()'"@]/.test(quoted) || generated.test(quoted)) return false
  return topFolder.test(quoted) || fileInFolder.test(quoted)
}

/** A path may be written from the root, from the document, or as the end of a path (`server/app.ts`), with `*` and `**`. */
function pathExists(quoted: string, document: string, files: readonly string[]): boolean {
  const plain = posix.normalize(quoted).replace(/^\.\/|\/$/g, '')
  const relative = posix.join(posix.dirname(document), plain)
  const isFromRoot = topFolder.test(quoted)
  return files.some((file) => {
    if (isFromRoot) return posix.matchesGlob(file, plain) || posix.matchesGlob(file, `${plain}/**`)
    return file === relative || file.startsWith(`${relative}/`) || posix.matchesGlob(`/${file}`, `/**/${plain}`)
  })
}

export const links: Rule = {
  name: 'links',
  says: 'Each relative link in a document refers to an existing file and heading.',
  check: (repository) =>
    linesOfDocuments(repository).flatMap(({ path, line, text }) =>
      [...text.matchAll(/\]\(<?([^)\s>]+)>?[^)]*\)|^\s*\[[^\]]+\]:\s*(\S+)/g)]
        .map((match) => match[1] ?? match[2] ?? '')
        .filter((link) => !/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(link))
        .flatMap((link) => linkFaults(link, path, repository))
        .map((what) => ({ path, line, what })),
    ),
}

function linkFaults(link: string, document: string, { files, read }: Repository): string[] {
  const [file = '', heading] = decodeURI(link).replace(/\?.*$/, '').split('#')
  const target = file === '' ? document : posix.join(posix.dirname(document), file).replace(/\/$/, '')
  const exists = target === '.' || files.some((each) => each === target || each.startsWith(`${target}/`))
  if (!exists) return [`links to ${link}, which does not exist`]
  if (heading === undefined || !target.endsWith('.md')) return []
  return headingsOf(read(target)).includes(heading) ? [] : [`links to #${heading}, which is not a heading of ${target}`]
}

/** Returns the anchors of a document: its headings in lower case with dashes between the words. */
function headingsOf(text: string): string[] {
  return prose(text)
    .flatMap(({ text: line }) => /^#+ +(.+)$/.exec(line)?.[1] ?? [])
    .map((title) => title.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, ''))
    .map((title) => title.trim().replaceAll(' ', '-'))
}

/** A path is absolute when only white space or a quote stands before it: `file:///home/me` is an example URI. */
const privateNames: readonly RegExp[] = [
  /\bregistry\.[a-z0-9-]+\.[a-z]{2,}\b/i,
  /https?:\/\/[^\s'"]+\/-\/[^\s'"]+\.tgz/,
  /(?<![\w.:/*-])\/(?:home|Users|root|work)\/[\w.-]+/,
  /\b[A-Z]:\\{1,2}Users\\/,
]
const binary = /\.(?:png|jpg|gif|ico|woff2?|wasm|tgz|zip)$/

export const places: Rule = {
  name: 'places',
  says: 'No file names a package registry or a folder of one machine.',
  check: ({ files, read }) =>
    files
      .filter((path) => !binary.test(path))
      .flatMap((path) => linesOf(read(path)).map(({ line, text }) => ({ path, line, found: privateNameIn(text) })))
      .filter(({ found }) => found !== undefined)
      .map(({ found, ...place }): Violation => ({ ...place, what: `names ${found}` })),
}

function privateNameIn(text: string): string | undefined {
  return privateNames.map((pattern) => pattern.exec(text)?.[0]).find((found) => found !== undefined)
}

/** The lines of all documents, without fenced blocks. Changelogs may name removed files. */
function linesOfDocuments({ files, read }: Repository): { path: string; line: number; text: string }[] {
  return files
    .filter((path) => path.endsWith('.md') && !/(?:^|\/)CHANGELOG\.md$|^\.changeset\//.test(path))
    .flatMap((path) => prose(read(path)).map((each) => ({ path, ...each })))
}

function prose(text: string): { text: string; line: number }[] {
  let fence: string | undefined
  return linesOf(text).filter(({ text: each }) => {
    const mark = /^\s*(```+|~~~+)/.exec(each)?.[1]
    if (mark === undefined) return fence === undefined
    if (fence === undefined) fence = mark
    else if (mark.startsWith(fence)) fence = undefined
    return false
  })
}

function linesOf(text: string): { text: string; line: number }[] {
  return text.split('\n').map((each, index) => ({ text: each, line: index + 1 }))
}
