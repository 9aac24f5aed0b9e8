/** The fenced code blocks of a document, and their expected output. */
import { readFileSync } from 'node:fs'

export interface Block {
  /** The first word after the fence: `ts`, `js`, `console`, `json`, `sh`, `text`. */
  readonly language: string
  /** The second word: the name of the file. A block without one is a separate program. */
  readonly file: string | undefined
  readonly text: string
  readonly line: number
}

/** One command of a `console` block, and the lines that it prints. */
export interface Step {
  readonly command: string
  /** Whether the command runs in the background: its line ends with `&`. */
  readonly inBackground: boolean
  readonly prints: readonly string[]
}

const isCode = ({ language }: Block): boolean => /^(?:ts|js|tsx|mjs|typescript|javascript)$/.test(language)

export function blocksOf(path: string): Block[] {
  const text = readFileSync(path, 'utf8')
  return [...text.matchAll(/^```([^\n`]*)\n(.*?)^```$/gms)].map((match) => {
    const [language = '', file] = (match[1] ?? '').trim().split(/\s+/)
    return { language, file, text: match[2] ?? '', line: text.slice(0, match.index).split('\n').length + 1 }
  })
}

/** Returns the programs without a file name, which are run separately. */
export const programsOf = (blocks: readonly Block[]): Block[] =>
  blocks.filter((block) => isCode(block) && block.file === undefined)

/** Returns the blocks with a file name. */
export const filesOf = (blocks: readonly Block[]): Block[] => blocks.filter(({ file }) => file !== undefined)

export const consolesOf = (blocks: readonly Block[]): Block[] => blocks.filter(({ language }) => language === 'console')

/** Returns the comments after `console.log(...)` calls, which state the output. */
export function expectedOutput(program: string): string[] {
  return [...program.matchAll(/console\.log\(.+\) \/\/ (.+)$/gm)].map((match) => match[1] as string)
}

/** Parses the commands of a `console` block, which must begin with a command. */
export function stepsOf({ text, line }: Block): Step[] {
  if (!text.startsWith('$ ')) throw new Error(`line ${line}: a console block begins with a command: \`$ node ...\``)
  return text
    .trimEnd()
    .split(/^\$ /m)
    .slice(1)
    .map((each) => {
      const [command = '', ...prints] = each.trimEnd().split('\n')
      return {
        command: command.replace(/ &$/, ''),
        inBackground: command.endsWith(' &'),
        prints: prints.filter(Boolean),
      }
    })
}

/** Whether the output matches. A line `...` matches any lines, `…` within a line any text. */
export function matchesOutput(printed: string, expected: readonly string[]): boolean {
  const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const lines = expected.map((line) =>
    line.trim() === '...' ? '(?:.*\\n)*' : `${line.split('…').map(literal).join('.*')}\\n`,
  )
  return new RegExp(`^${lines.join('')}$`).test(`${printed.replace(/\n+/g, '\n').trim()}\n`)
}
