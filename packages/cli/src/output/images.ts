/** Shows images in terminals that support the image protocol of kitty or iTerm2. */

import type { Terminal } from './terminal.ts'

/** The largest image that is shown, in bytes. */
const MAX_SIZE = 8_388_608
/** The largest part of an image in one escape sequence of kitty, in characters. */
const CHUNK = 4_096

/** Returns the escape sequences that show an image on standard output, or undefined if the terminal cannot show it. */
export function imageSequence(bytes: Buffer, mimeType: string, { stdout, env }: Terminal): string | undefined {
  if (stdout.isTTY !== true || bytes.length > MAX_SIZE || env.TMUX !== undefined) return undefined
  const { TERM = '', TERM_PROGRAM = '', LC_TERMINAL = '' } = env
  const data = bytes.toString('base64')
  // WezTerm and Ghostty support the protocol of kitty, which only has PNG.
  const isKitty =
    env.KITTY_WINDOW_ID !== undefined || TERM === 'xterm-kitty' || /^(?:ghostty|WezTerm)$/.test(TERM_PROGRAM)
  if (isKitty && mimeType === 'image/png') return kittySequence(data)
  const isITerm = TERM_PROGRAM === 'iTerm.app' || TERM_PROGRAM === 'WezTerm' || LC_TERMINAL === 'iTerm2'
  if (isITerm && /^image\/(?:png|jpeg|gif|webp)$/.test(mimeType)) {
    return `\u001b]1337;File=inline=1;size=${bytes.length}:${data}\u0007\n`
  }
  return undefined
}

function kittySequence(data: string): string {
  const chunks = data.match(new RegExp(`.{1,${CHUNK}}`, 'g')) ?? []
  const parts = chunks.map((chunk, index) => {
    const isLast = index === chunks.length - 1
    const control = index === 0 ? `a=T,f=100,m=${isLast ? 0 : 1}` : `m=${isLast ? 0 : 1}`
    return `\u001b_G${control};${chunk}\u001b\\`
  })
  return `${parts.join('')}\n`
}
