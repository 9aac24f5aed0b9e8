/** Finds dead links between the pages of a static site. */
import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

export interface LinkReport {
  /** The number of links to pages of the site. */
  readonly links: number
  /** The links whose file, or whose element of a page, does not exist. */
  readonly dead: readonly string[]
}

export function findDeadLinks(folder: string): LinkReport {
  const files = globSync('**', { cwd: folder }).map((path) => path.replaceAll('\\', '/'))
  const pages = new Map(files.filter((path) => path.endsWith('.html')).map((path) => [path, readPage(folder, path)]))
  const links = [...pages].flatMap(([page, { targets }]) => targets.map((target) => ({ page, target })))
  const dead = links.filter(({ page, target }) => {
    const [path = '', anchor = ''] = target.replace(/\?[^#]*/, '').split('#')
    const file = path === '' ? page : posix.join(posix.dirname(page), decodeURIComponent(path))
    if (!files.includes(file)) return true
    return anchor !== '' && pages.get(file)?.anchors.has(decodeURIComponent(anchor)) === false
  })
  return { links: links.length, dead: dead.map(({ page, target }) => `${page} -> ${target}`) }
}

/** Reads the links of a page to this site, and the elements that a link can point to. */
function readPage(folder: string, path: string): { targets: string[]; anchors: Set<string> } {
  const text = readFileSync(join(folder, path), 'utf8')
  const targets = [...text.matchAll(/\s(?:href|src)="([^"]+)"/g)].map((match) => match[1] ?? '')
  const anchors = [...text.matchAll(/\s(?:id|name)="([^"]+)"/g)].map((match) => match[1] ?? '')
  return { targets: targets.filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target)), anchors: new Set(anchors) }
}
