/** Words for a terminal; plain when piped, or when NO_COLOR says so. */
import { styleText } from 'node:util'

type Style = 'bold' | 'dim' | 'green' | 'red' | 'cyan' | 'yellow'

export function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

export function heading(text: string): void {
  console.log(`\n${paint('bold', text)}`)
}

/** A line of a dialogue: who it is from, and what is said. */
export function line(sign: '→' | '←' | '?' | '·' | '!', text: string): void {
  const style = ({ '→': 'cyan', '←': 'green', '?': 'yellow', '·': 'dim', '!': 'yellow' } as const)[sign]
  console.log(`  ${paint(style, sign)} ${sign === '·' ? paint('dim', text) : text}`)
}
