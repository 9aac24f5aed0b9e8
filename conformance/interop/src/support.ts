/** What the results say of our support of others, as sections of documents. */

import type { ResultsRecord, StrangerRecord, WayRecord } from './record.ts'
import { table } from './table.ts'
import type { Cell } from './verdict.ts'

const columns = [
  { ours: 'client', peer: 'sdk-1' },
  { ours: 'client', peer: 'sdk-2' },
  { ours: 'server', peer: 'sdk-1' },
  { ours: 'server', peer: 'sdk-2' },
] as const
type Column = (typeof columns)[number]

/** For the list of what is supported: every feature with every peer. */
export function wholeSection(record: ResultsRecord): string {
  const head = ['what client and server do together', ...columns.map((column) => headOf(column, record))]
  const what = [...new Set(record.ways.flatMap(({ verdicts }) => Object.keys(verdicts)))]
  const rows = what.map((each) => [each, ...columns.map((column) => cellOf(waysOf(column, record), each))])
  return [
    '## With the official SDK, and with others\n',
    `Tried on ${record.date} with Node ${record.node.slice(1)}, over stdio, HTTP and, where the peer has it, the HTTP transport of 2024-11-05; in`,
    'every revision that the peer can be brought to speak. "9 of 9" are ways to meet: carriers times revisions, but those that do not have',
    'it. Each way is tried by `conformance/interop`, which also says what is seen where something does not work.\n',
    table([head, ...rows]),
    '\n### Servers and clients of others\n',
    table([['package', 'is', 'over', 'works'], ...record.strangers.map(rowOf)]),
    '\n### What does not work, and why that is so\n',
    table([['with', 'what', 'why', 'what is seen'], ...notesOf(record)]),
  ].join('\n')
}

/** For the front page: one line for each peer. */
export function shortSection(record: ResultsRecord): string {
  const sdk = columns.map((column) => {
    const ways = waysOf(column, record)
    return [
      `official SDK ${versionOf(column, record)}`,
      column.ours === 'client' ? 'server' : 'client',
      listed(ways.map(({ carrier }) => carrier)),
      spanOf(ways.map(({ revision }) => revision)),
      countOf(ways),
    ]
  })
  const others = groupsOf(record.strangers).map((group) => [
    `\`${group[0]?.package}\` ${group[0]?.version}`,
    `${group[0]?.is}`,
    listed(group.map(({ over }) => over.split(',')[0] ?? over)),
    '',
    countOf(group),
  ])
  return [
    `Tried on ${record.date}, each feature in each revision over each carrier. What does not work is in`,
    '[docs/spec-support.md](docs/spec-support.md), with the reason.\n',
    table([['with', 'their side', 'over', 'revisions', 'works'], ...sdk, ...others]),
  ].join('\n')
}

/** The ways of one package, which stand side by side. */
function groupsOf(strangers: readonly StrangerRecord[]): StrangerRecord[][] {
  const names = new Set(strangers.map((each) => each.package))
  return [...names].map((name) => strangers.filter((each) => each.package === name))
}

type Tried = Pick<WayRecord, 'verdicts'>

function countOf(tried: readonly Tried[]): string {
  const all = tried.flatMap(({ verdicts }) => Object.values(verdicts)).filter((status) => status !== 'absent')
  return `${all.filter((status) => status === 'passed').length} of ${all.length}`
}

function waysOf({ ours, peer }: Column, { ways }: ResultsRecord): WayRecord[] {
  return ways.filter((way) => way.ours === ours && way.peer === peer)
}

function versionOf({ ours, peer }: Column, { versions }: ResultsRecord): string {
  const of = versions[peer] ?? {}
  const other = ours === 'client' ? 'server' : 'client'
  return of[`@modelcontextprotocol/${other}`] ?? Object.values(of)[0] ?? ''
}

function headOf(column: Column, record: ResultsRecord): string {
  const version = `SDK ${versionOf(column, record)}`
  return column.ours === 'client' ? `our client, ${version}` : `${version}, our server`
}

function cellOf(ways: readonly WayRecord[], what: string): string {
  const verdicts = ways.map((way) => way.verdicts[what]).filter((status) => status !== undefined && status !== 'absent')
  if (verdicts.length === 0) return '–'
  return `${verdicts.filter((status) => status === 'passed').length} of ${verdicts.length}`
}

function rowOf(stranger: StrangerRecord): string[] {
  return [`${stranger.package} ${stranger.version}`, stranger.is, stranger.over, countOf([stranger])]
}

/** What is the same in several ways is said once. */
function notesOf(record: ResultsRecord): string[][] {
  const { ways, strangers } = record
  const all = [
    ...ways.flatMap((way) =>
      way.notes.map((note) => ({
        ...note,
        who: whoOf(way, note, record),
      })),
    ),
    ...strangers.flatMap((each) =>
      each.notes.map((note) => ({ ...note, who: `${each.package} ${each.version}, ${each.over}` })),
    ),
  ]
  const rows = all.map(({ who, what, reason = '', evidence = '' }) => [who, what, reason, codeOf(evidence)])
  return [...new Map(rows.map((row) => [row.slice(0, 3).join(), row])).values()]
}

function whoOf(way: WayRecord, { status }: Cell, record: ResultsRecord): string {
  const other = `${way.ours === 'client' ? 'the server' : 'the client'} of SDK ${versionOf(way, record)}`
  return status === 'left out' ? `our ${way.ours}, with ${other}` : other
}

function codeOf(evidence: string): string {
  return `\`${evidence.replaceAll('`', "'").replaceAll('|', '\\|').slice(0, 160)}\``
}

function listed(words: readonly string[]): string {
  return [...new Set(words)].join(', ')
}

function spanOf(revisions: readonly string[]): string {
  const [first = '', ...rest] = [...new Set(revisions)].toSorted()
  const last = rest.at(-1)
  return last === undefined ? first : `${first} to ${last}`
}
