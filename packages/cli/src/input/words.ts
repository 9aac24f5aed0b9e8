/** Splits a line of the shell of `mcpx` into words. */

/** The words of a line. */
export interface Words {
  readonly words: readonly string[]
  /** The unfinished last word. Empty after a space. */
  readonly unfinished: string
  /** Whether a quote is open at the end. */
  readonly isOpen: boolean
}

/** Splits a line at white space. Quotes keep white space, and a backslash keeps the next character, as in a POSIX shell. */
export function splitWords(line: string): Words {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let index = 0; index < line.length; index++) {
    const character = line[index] as string
    if (character === '\\' && quote !== "'" && index + 1 < line.length) word = `${word ?? ''}${line[++index]}`
    else if (character === quote) quote = ''
    else if (quote === '' && (character === '"' || character === "'")) {
      quote = character
      word ??= ''
    } else if (quote === '' && /\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = `${word ?? ''}${character}`
  }
  if (word !== undefined) words.push(word)
  return { words, unfinished: word ?? '', isOpen: quote !== '' }
}
