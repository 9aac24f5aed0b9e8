/** Cuts TypeScript into words, strings, comments and marks: enough to read imports and to count lines of code. */

export type TokenKind = 'comment' | 'string' | 'template' | 'regex' | 'word' | 'number' | 'mark'

export interface Token {
  readonly kind: TokenKind
  /** As written; for strings and template pieces without the quotes. */
  readonly text: string
  /** The line it begins on, from 1. */
  readonly line: number
  /** The line it ends on. */
  readonly lastLine: number
}

const patterns: readonly (readonly [TokenKind, RegExp])[] = [
  ['comment', /\/\/[^\n]*|\/\*[\s\S]*?\*\//y],
  ['string', /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y],
  ['word', /[#@]?[\p{ID_Start}$_][\p{ID_Continue}$]*/uy],
  ['number', /\d[\w.]*/y],
  ['regex', /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y],
  ['mark', /=>|\?\.|\.\.\.|[\s\S]/y],
]

/** Where a slash begins a regular expression although a word stands before it. */
const wordsBeforeRegex = new Set(
  'return typeof case in of do else void delete throw new await yield default'.split(' '),
)

/** The tokens of a file, comments included. Text that is not TypeScript gives tokens too, only meaningless ones. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = []
  /** For each open `${`, how many braces are open inside it. */
  const holes: number[] = []
  let at = 0
  let line = 1

  const take = (kind: TokenKind, raw: string, text: string): void => {
    const lastLine = line + raw.split('\n').length - 1
    tokens.push({ kind, text, line, lastLine })
    at += raw.length
    line = lastLine
  }
  const takeTemplatePiece = (): void => {
    const piece = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{|$)/y
    piece.lastIndex = at + 1
    const body = piece.exec(source)?.[0] ?? ''
    const text = body.replace(/`$|\$\{$/, '')
    if (body.endsWith('${')) holes.push(0)
    take('template', source[at] + body, text)
  }

  while (at < source.length) {
    const char = source[at]
    if (char === '`' || (char === '}' && holes.at(-1) === 0)) {
      if (char === '}') holes.pop()
      takeTemplatePiece()
      continue
    }
    const [kind, raw] = next(source, at, tokens)
    if (raw.trim() === '') {
      at += raw.length
      if (raw === '\n') line += 1
      continue
    }
    if (holes.length > 0 && (raw === '{' || raw === '}')) holes.push((holes.pop() ?? 0) + (raw === '{' ? 1 : -1))
    take(kind, raw, kind === 'string' ? raw.slice(1, -1) : raw)
  }
  return tokens
}

function next(source: string, at: number, before: readonly Token[]): readonly [TokenKind, string] {
  for (const [kind, pattern] of patterns) {
    if (kind === 'regex' && !regexMayStart(before)) continue
    pattern.lastIndex = at
    const found = pattern.exec(source)
    if (found !== null) return [kind, found[0]]
  }
  return ['mark', source[at] ?? '']
}

function regexMayStart(before: readonly Token[]): boolean {
  const last = before.findLast((token) => token.kind !== 'comment')
  if (last === undefined) return true
  if (last.kind === 'word') return wordsBeforeRegex.has(last.text)
  return last.kind === 'mark' && last.text !== ')' && last.text !== ']' && last.text !== '}'
}
