/** Budgets of what is the same on every machine: they only go down. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Findings } from './case.ts'
import { fixed } from './statistics.ts'

const file = fileURLToPath(new URL('../budgets.json', import.meta.url))

/** By case and figure. */
export type Budgets = Readonly<Record<string, Readonly<Record<string, number>>>>

/** The room that a budget leaves when it is set. */
const ROOM = 1.03
/** What is below its budget by more than this could be given a lower one. */
const FAR_BELOW = 0.06

export interface Judgement {
  /** What is above its budget, or has none. */
  readonly broken: readonly string[]
  /** What is so far below that its budget can be lowered. */
  readonly loose: readonly string[]
  readonly kept: number
}

export function readBudgets(): Budgets {
  return JSON.parse(readFileSync(file, 'utf8')) as Budgets
}

export function writeBudgets(budgets: Budgets): void {
  writeFileSync(file, `${JSON.stringify(budgets, null, 2)}\n`)
}

/** Holds the figures of all cases that have some against their budgets. */
export function judge(all: readonly Findings[], budgets: Budgets): Judgement {
  const broken: string[] = []
  const loose: string[] = []
  let kept = 0
  for (const { name: caseName, figures = {} } of all) {
    const own = budgets[caseName] ?? {}
    for (const [name, figure] of Object.entries(figures)) {
      const budget = own[name]
      const what = `${caseName} ${name}: ${fixed(figure, 0)}`
      if (budget === undefined) broken.push(`${what} has no budget: give it one by --lower`)
      else if (!(figure <= budget)) broken.push(`${what} is above its budget of ${fixed(budget, 0)}`)
      else {
        kept += 1
        const room = budgetFor(figure)
        if (figure < budget * (1 - FAR_BELOW) && room < budget) {
          loose.push(`${what} is far below its budget of ${fixed(budget, 0)}: lower it to ${room} by --lower`)
        }
      }
    }
    const gone = Object.keys(own).filter((name) => !Object.hasOwn(figures, name))
    broken.push(
      ...gone.map((name) => `${caseName} ${name}: has a budget, but was not measured: take it out of budgets.json`),
    )
  }
  return { broken, loose, kept }
}

/** The budgets with those lowered that can be, and with one for what has none. None is raised. */
export function lowered(all: readonly Findings[], budgets: Budgets): Budgets {
  const next: Record<string, Readonly<Record<string, number>>> = { ...budgets }
  for (const { name, figures } of all) {
    if (figures === undefined || Object.keys(figures).length === 0) continue
    const own = budgets[name] ?? {}
    const entries = Object.entries(figures).map(([figure, value]): [string, number] => {
      return [figure, Math.min(own[figure] ?? Number.POSITIVE_INFINITY, budgetFor(value))]
    })
    next[name] = Object.fromEntries(entries)
  }
  return next
}

function budgetFor(figure: number): number {
  return Math.ceil(figure * ROOM)
}
