/**
 * Tests the regular expressions that read strings of a peer with expensive strings. The work must grow in proportion to
 * the length.
 */
import { globSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { parseSync, Visitor } from 'rolldown/utils'
import { describe, expect, it } from 'vitest'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`regular-expressions: FC_SEED=${seed}`)

const KIB = 1024
/** The number of attacks on each expression. */
const ATTACKS = 200
/** Work of less than this many ms is not measured exactly enough to be judged. */
const MEASURABLE = 20
/** Work of more than this many ms for a short string is exponential. */
const EXPENSIVE = 40

/** A string that repeats one part. */
interface Attack {
  readonly start: string
  readonly part: string
  readonly end: string
}

function stringOf({ start, part, end }: Attack, length: number): string {
  // The string is decoded from bytes, so that the engine stores it in one piece.
  return Buffer.from(start + part.repeat(Math.ceil(length / part.length)) + end).toString()
}

/**
 * Returns whether a pattern repeats a part any number of times. All other patterns read a limited number of characters.
 */
function isUnbounded(pattern: string): boolean {
  return /[*+]|\{\d+,\}/.test(pattern.replaceAll(/\\.|\[(?:[^\]\\]|\\.)*\]/g, ''))
}

/** The literals of the sources that repeat a part. A literal that occurs several times has the place of its first occurrence. */
function readExpressions(): Map<string, { pattern: string; flags: string }> {
  const expressions = new Map<string, { pattern: string; flags: string }>()
  const seen = new Set<string>()
  for (const file of globSync('packages/*/src/**/*.{ts,tsx}').sort()) {
    if (/\.(?:test|test-d|fixture|bench)\.tsx?$/.test(file)) continue
    const text = readFileSync(file, 'utf8')
    const visitor = new Visitor({
      Literal(node) {
        if (!('regex' in node) || seen.has(`${node.regex.pattern}/${node.regex.flags}`)) return
        if (!isUnbounded(node.regex.pattern)) return
        seen.add(`${node.regex.pattern}/${node.regex.flags}`)
        expressions.set(`${file}:${text.slice(0, node.start).split('\n').length} ${node.raw}`, node.regex)
      },
    })
    visitor.visit(parseSync(file, text).program)
  }
  return expressions
}

const PRINTABLE = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))

/** Strings that match, or nearly match, because the generator does not support lookarounds and some flags. */
function samplesOf(pattern: string): string[] {
  const withoutLooks = pattern.replaceAll(/\(\?<?[=!](?:[^()[\]\\]|\\.|\[(?:[^\]\\]|\\.)*\])*\)/g, '')
  for (const flags of ['', 'u']) {
    try {
      // In a set without printable characters, the generator would search for ever.
      const simple = withoutLooks.replaceAll(/\[\^(?:[^\]\\]|\\.)*\]/g, (set) =>
        PRINTABLE.some((one) => new RegExp(set, flags).test(one)) ? set : '\\n',
      )
      return fc.sample(fc.stringMatching(new RegExp(simple, flags), { size: 'xsmall' }), { seed, numRuns: 12 })
    } catch {
      // Tries the next flag. If no flag works, there are no samples.
    }
  }
  return []
}

const ENDS = ['', '\0', '!', '\n', '@', '"']

/**
 * Repeats parts of matching strings, and characters of the pattern. The end is chosen so that the whole string does not
 * match.
 */
function attacksOn(pattern: string): Attack[] {
  const attacks: Attack[] = []
  const samples = ['', ...samplesOf(pattern).map((sample) => sample.slice(0, 40))]
  const characters = [...new Set(`${pattern.replaceAll(/[\\^$*+()[\]{}|]/g, '')}a1A .-,:/?&#=%@"`)].slice(0, 40)
  const parts = characters.flatMap((one) => [one, ...['a', '1', ' ', '/'].map((other) => one + other)])
  for (const sample of samples) {
    for (const end of ENDS) {
      for (const part of parts) attacks.push({ start: sample, part, end })
      for (let from = 0; from < sample.length; from++) {
        for (const to of [from + 1, from + 2, from + 3, sample.length]) {
          const part = sample.slice(from, to)
          const start = sample.slice(0, from)
          attacks.push({ start, part, end }, { start, part, end: sample.slice(to) + end })
        }
      }
    }
  }
  // Uses all plain attacks, and some of the other attacks.
  const plain = parts.map((part): Attack => ({ start: '', part, end: '\0' }))
  const stride = Math.max(1, Math.floor(attacks.length / ATTACKS))
  return [...plain, ...attacks.filter((_, index) => (index + seed) % stride === 0)]
}

/** The CPU time of this thread in ms, which does not include other work on the machine. The minimum of three runs. */
function workOf(run: () => unknown, times = 3): number {
  let least = Number.POSITIVE_INFINITY
  for (let time = 0; time < times; time++) {
    const before = process.threadCpuUsage()
    run()
    const { user, system } = process.threadCpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

/** The work for 16 times the length, in proportion to the work for 16 short strings: 1 if it is linear, 16 if it is quadratic. */
const TOO_FAST = 5

/**
 * Measures the growth of the work at the first length that takes long enough. Returns a description if the growth is
 * not linear.
 */
function growsTooFast(run: (text: string) => unknown, attack: Attack): string | undefined {
  for (let length = KIB / 8; length <= 64 * KIB; length *= 4) {
    const [short, long] = [stringOf(attack, length), stringOf(attack, 16 * length)]
    const work = workOf(() => run(long))
    if (work < MEASURABLE) continue
    // The short strings have the same number of characters in sum, because some kernels count processor time in steps
    // of 4 ms.
    const runShort = () => {
      for (let time = 0; time < 16; time++) run(short)
    }
    const ratioOf = () => workOf(() => run(long)) / Math.max(workOf(runShort), 1)
    // A garbage collection disturbs one measurement, rarely two.
    const ratio = Math.min(ratioOf(), ratioOf())
    if (ratio < TOO_FAST) return undefined
    const growth = `${Math.round(ratio)} times as long as for 16 strings of ${length}`
    return `${JSON.stringify(attack)}: ${Math.round(work)} ms for ${16 * length} characters, ${growth}`
  }
  return undefined
}

/** Finds the most expensive attacks with 8 kB, and measures how their work grows. */
function weaknessOf(run: (text: string) => unknown, attacks: readonly Attack[]): string | undefined {
  const costs: { attack: Attack; work: number }[] = []
  for (const attack of attacks) {
    let work = 0
    // Begins with short strings, so that exponential work is found before it takes too long.
    for (const length of [24, 32, 40, 48, 64, 128, KIB / 2, 8 * KIB]) {
      const text = stringOf(attack, length)
      work = workOf(() => run(text), 1)
      if (work < EXPENSIVE) continue
      const isExponential = length < 100 && workOf(() => run(text)) > EXPENSIVE / 4
      if (isExponential) return `${JSON.stringify(attack)}: ${Math.round(work)} ms for ${length} characters`
      return growsTooFast(run, attack)
    }
    costs.push({ attack, work })
  }
  costs.sort((some, other) => other.work - some.work)
  for (const { attack } of costs.slice(0, 5)) {
    const weakness = growsTooFast(run, attack)
    if (weakness !== undefined) return weakness
  }
  return undefined
}

/** Finds the first match, or the matches in the whole string with the flag `g`. */
const runnerOf = (pattern: string, flags: string) => (text: string) => {
  const expression = new RegExp(pattern, flags)
  try {
    while (expression.test(text) && expression.global) {
      // Moves on after an empty match, because it would be found again.
      expression.lastIndex += 1
    }
  } catch (error) {
    // The engine throws if a match needs too much memory.
    if (!(error instanceof RangeError)) throw error
  }
}

describe('the work of regular expressions is linear in the string', () => {
  const expressions = [...readExpressions()]

  it('are found', () => {
    expect(expressions.length).toBeGreaterThan(60)
  })

  it.each(expressions)(
    '%s',
    (_, { pattern, flags }) => {
      expect(weaknessOf(runnerOf(pattern, flags), attacksOn(pattern))).toBeUndefined()
    },
    60_000,
  )
})

describe('the measurement sees', () => {
  it.each([
    ['a run that begins at each of its characters', '([?&#])([^=&#\\s]+)=', 'g'],
    ['spaces before an end', '\\s+$', ''],
    ['two runs of the same characters', '^\\w*\\w*!$', ''],
    ['alternatives that overlap', '^(?:a|b|ab)*c$', ''],
  ])(
    '%s',
    (_, pattern, flags) => {
      expect(weaknessOf(runnerOf(pattern, flags), attacksOn(pattern))).toMatch(/ ms for \d+ characters/)
    },
    60_000,
  )
})
