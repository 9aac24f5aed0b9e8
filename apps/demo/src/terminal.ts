/** Coloured output for terminals; plain when piped or when NO_COLOR is set. */
import { styleText } from 'node:util'

type Style = 'bold' | 'dim' | 'green' | 'red' | 'cyan' | 'yellow'

export function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

export function heading(text: string): void {
  console.log(`\n${paint('bold', text)}`)
}

/**
 * Prints a line of a dialogue. The sign shows the kind of the text: → request, ← response, ? input request, ! change, ·
 * remark.
 */
export function line(sign: '→' | '←' | '?' | '·' | '!', text: string): void {
  const style = ({ '→': 'cyan', '←': 'green', '?': 'yellow', '·': 'dim', '!': 'yellow' } as const)[sign]
  console.log(`  ${paint(style, sign)} ${sign === '·' ? paint('dim', text) : text}`)
}
