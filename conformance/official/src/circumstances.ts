/** When kept results were found, and with which Node: a document repeats it, so it has to be possible. */
import { readFileSync } from 'node:fs'

export interface Circumstances {
  /** Such as `v24.21.0`. */
  readonly node: string
  /** Such as `2026-11-18`, in UTC. */
  readonly date: string
}

/** The versions of all that is tried here were first pinned on this day: nothing was found before. */
const FIRST_DAY = '2026-11-18'

const MAJOR = majorOf(
  JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).devDependencies.node,
)

/** What cannot be so: results are of the repository's major version of Node, and of a day that was. */
export function impossible({ node, date }: Circumstances, now = new Date(), major = MAJOR): string[] {
  const wrong: string[] = []
  if (!/^v\d+\.\d+\.\d+$/.test(node) || majorOf(node) !== major)
    wrong.push(`they are of Node ${node}, and Node ${major} is pinned`)
  if (!isDay(date)) wrong.push(`their date is '${date}', which is no day`)
  else if (date < FIRST_DAY) wrong.push(`they are of ${date}, before anything was pinned (${FIRST_DAY})`)
  else if (date > dayOf(now)) wrong.push(`they are of ${date}, which is yet to come`)
  return wrong
}

function isDay(text: string): boolean {
  const time = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(time.getTime()) && dayOf(time) === text
}

const dayOf = (time: Date) => time.toISOString().slice(0, 10)

function majorOf(version: string): number {
  return Number.parseInt(version.replace(/^v/, ''), 10)
}
