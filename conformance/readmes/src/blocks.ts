/** The fenced blocks of a document, and what each of them promises. */
import { readFileSync } from 'node:fs'

export interface Block {
  /** The first word behind the fence: `ts`, `js`, `console`, `json`, `sh`, `text`. */
  readonly language: string
  /** The second one: the file that the block is. Without it a program stands alone. */
  readonly file: string | undefined
  readonly text: string
  readonly line: number
}

/** One command of a `console` block, and the lines that it prints. */
export interface Step {
  readonly command: string
  /** It goes on in the background while the rest of the document is read: its line ends with `&`. */
  readonly stays: boolean
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

/** Programs that have no name: each is run by itself. */
export const programsOf = (blocks: readonly Block[]): Block[] =>
  blocks.filter((block) => isCode(block) && block.file === undefined)

/** Files that other files and commands name. */
export const filesOf = (blocks: readonly Block[]): Block[] => blocks.filter(({ file }) => file !== undefined)

export const consolesOf = (blocks: readonly Block[]): Block[] => blocks.filter(({ language }) => language === 'console')

/** What the comments behind `console.log(...)` say that it prints. */
export function promisedBy(program: string): string[] {
  return [...program.matchAll(/console\.log\(.+\) \/\/ (.+)$/gm)].map((match) => match[1] as string)
}

/** The commands of a `console` block; what stands before the first one is a mistake. */
export function stepsOf({ text, line }: Block): Step[] {
  if (!text.startsWith('$ ')) throw new Error(`line ${line}: a console block begins with a command: \`$ node ...\``)
  return text
    .trimEnd()
    .split(/^\$ /m)
    .slice(1)
    .map((each) => {
      const [command = '', ...prints] = each.trimEnd().split('\n')
      return { command: command.replace(/ &$/, ''), stays: command.endsWith(' &'), prints: prints.filter(Boolean) }
    })
}

/** Whether what was printed is what was promised. `...` on a line of its own is any lines, `…` within one any text. */
export function fits(printed: string, promised: readonly string[]): boolean {
  const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const lines = promised.map((line) =>
    line.trim() === '...' ? '(?:.*\\n)*' : `${line.split('…').map(literal).join('.*')}\\n`,
  )
  return new RegExp(`^${lines.join('')}$`).test(`${printed.replace(/\n+/g, '\n').trim()}\n`)
}
