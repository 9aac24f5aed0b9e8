import { globSync, readFileSync } from 'node:fs'
import { ErrorCode } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { pathOf, root } from './documents.ts'
import { entries } from './names.ts'

const index = readFileSync(pathOf('docs/guides/error-index.md'), 'utf8')
const sources = globSync('packages/*/src/**/*.ts', { cwd: root })
  .filter((path) => !/\.(?:test|test-d|fixture)\.ts$/.test(path))
  .map((path) => ({ path, text: readFileSync(pathOf(path), 'utf8') }))

/** The first cells of the rows below a heading, without back quotes: `a`, `b` in one cell are two. */
function listedBelow(heading: string): string[] {
  const [, section = ''] = new RegExp(`^## ${heading}\n(.*?)(?=^## |$(?![^]))`, 'ms').exec(index) ?? []
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''))
}

/** The members of a union of strings, and of the unions that it names. */
function membersOf(type: string): string[] {
  const found = sources.map(({ text }) => new RegExp(`^export type ${type} =(.*?)\n\n`, 'ms').exec(`${text}\n\n`)?.[1])
  const union = found.find((each) => each !== undefined)
  if (union === undefined) throw new Error(`no source exports a type ${type}`)
  const others = [...union.matchAll(/\| ([A-Z]\w+)/g)].flatMap((match) => membersOf(match[1] ?? ''))
  return [...[...union.matchAll(/'([^']+)'/g)].map((match) => match[1] ?? ''), ...others]
}

/** The statuses of failures with which the endpoint responds. */
function statuses(): string[] {
  const text = sources
    .filter(({ path }) => /transport-http\/src\/(?:server|node)\//.test(path))
    .map((source) => source.text)
    .join('\n')
  const found = [...text.matchAll(/(?:refusal\(|status: |\]: |writeHead\()([45]\d\d)\b/g)].map(
    (match) => match[1] ?? '',
  )
  return [...new Set(found)]
}

async function exportedErrors(): Promise<string[]> {
  const published = [...entries()].filter((name) => /^@mcpx\/(?!.*\/package\.json)/.test(name))
  const ours = published.filter((name) =>
    sources.some(({ path }) => path.startsWith(`packages/${name.split('/')[1]}/`)),
  )
  const modules = await Promise.all(ours.map((name) => import(name) as Promise<Record<string, unknown>>))
  const errors = modules
    .flatMap((module) => Object.entries(module))
    .filter(([, value]) => typeof value === 'function' && value.prototype instanceof Error)
    .map(([name]) => name)
  return [...new Set(errors)]
}

describe('the index of errors', () => {
  it('lists each error code with its name', () => {
    const rows = index.split('\n')
    const missing = Object.entries(ErrorCode).filter(
      ([name, code]) => !rows.some((row) => row.startsWith(`| \`${code}\``) && row.includes(`\`${name}\``)),
    )
    expect(missing).toEqual([])
  })

  it.each([
    ['Reasons of a ConnectionError', 'ConnectionErrorReason'],
    ['Refused credentials', 'RefusalReason'],
    ['Steps of an AuthError', 'AuthStep'],
    ['Reasons of a TaskError', 'TaskErrorReason'],
    ['Reasons of a JsonSchemaError', 'JsonSchemaErrorReason'],
    ['Reasons of an SseError', 'SseErrorReason'],
    ['Reasons of a SkillError', 'SkillErrorReason'],
    ['Reasons of a TaskEnded', 'TaskEndReason'],
    ['Reasons of a failed task', 'TaskFailureReason'],
  ])('lists below "%s" each member of %s, and nothing else', (heading, type) => {
    expect(listedBelow(heading).sort()).toEqual(membersOf(type).sort())
  })

  it('lists each exported error class', async () => {
    const exported = await exportedErrors()
    expect(exported.length).toBeGreaterThan(8)
    expect(exported.filter((name) => !listedBelow('Error classes').includes(name))).toEqual([])
  })

  it('lists each status of the HTTP endpoint', () => {
    expect(statuses().length).toBeGreaterThan(8)
    expect(statuses().filter((status) => !listedBelow('HTTP statuses').includes(status))).toEqual([])
  })
})
