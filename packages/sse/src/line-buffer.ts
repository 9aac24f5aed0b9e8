/** Turns text that arrives in arbitrary pieces into whole lines, each ended by LF, in time linear in the input. */

/** Bytes an engine spends, about, to hold one more string. */
const overhead = 32

/**
 * Strips one leading byte order mark, reads CRLF, CR and LF as the end of a line, and holds back the last, unfinished
 * line. The limit on that line is the caller's, who reads `length` after each `take`.
 */
export class LineBuffer {
  /** Characters of the unfinished line. */
  length = 0
  #pieces: string[] = []
  /** Dropped if the next text starts with it: the mark at the start, the LF that belongs to a CR already read. */
  #skip = '\uFEFF'

  /** Adds text; gives the lines it completes, or an empty string. A CR completes its line at once. */
  take(text: string): string {
    if (!text) return text
    let rest = text[0] === this.#skip ? text.slice(1) : text
    this.#skip = text.endsWith('\r') ? '\n' : ''
    if (rest.includes('\r')) rest = rest.replace(/\r\n?/g, '\n')
    const end = rest.lastIndexOf('\n') + 1
    const lines = end > 0 ? this.release() + rest.slice(0, end) : ''
    this.#pieces.push(rest.slice(end))
    this.length += rest.length - end
    // Joining whenever the pieces outweigh the line keeps the memory and the copying proportional to it.
    if (this.#pieces.length * overhead > this.length) this.#pieces = [this.#pieces.join('')]
    return lines
  }

  /** Hands over the unfinished line. */
  release(): string {
    const line = this.#pieces.join('')
    this.#pieces = []
    this.length = 0
    return line
  }
}
