/** Shows the progress of a call on one line of the terminal, and removes the line at the end. */

import type { Progress } from '@mcpx/client'
import { plainLine } from './plain-text.ts'
import type { Terminal } from './terminal.ts'

const BAR_WIDTH = 24

/** A line with the progress of a call. */
export interface ProgressLine {
  /** Shows the progress. Without a terminal it has no effect. */
  show(progress: Progress): void
  /** Removes the line, for example before a question. */
  clear(): void
}

/** Creates the line, on standard error. */
export function createProgressLine({ stderr, columns }: Terminal): ProgressLine {
  let isShown = false
  return {
    show({ progress, total, message }) {
      if (stderr.isTTY !== true) return
      isShown = true
      const text = [barOf(progress, total), message === undefined ? '' : plainLine(message)].join(' ')
      // Cut the line: a wrapped line could not be removed completely.
      stderr.write(`\r\u001b[2K${[...text].slice(0, columns(stderr) - 1).join('')}`)
    },
    clear() {
      if (isShown) stderr.write('\r\u001b[2K')
      isShown = false
    },
  }
}

function barOf(progress: number, total: number | undefined): string {
  if (total === undefined || !(total > 0)) return `${progress}`
  const part = Math.min(1, Math.max(0, progress / total))
  const done = Math.round(part * BAR_WIDTH)
  return `${'█'.repeat(done)}${'░'.repeat(BAR_WIDTH - done)} ${progress}/${total}`
}
