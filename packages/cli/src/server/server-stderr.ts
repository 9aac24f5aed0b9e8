/** Decides what a user sees of the standard error of a server that was started. */

import type { Output } from '../output/output.ts'
import { plainText } from '../output/plain-text.ts'
import type { Terminal } from '../output/terminal.ts'

/** How long a server may take before its output is shown, in ms: it may be waiting for the user. */
const PATIENCE = 5_000
/** How much output is kept until then, in characters. */
const MAX_KEPT = 65_536

/**
 * Returns a target for the standard error of a server. Most of it is of no interest, so it is shown with `--verbose`, or if
 * the server is still running after 5 s. Errors of the connection repeat its last lines in any case.
 */
export function serverStderr(output: Output, { stderr }: Terminal, isVerbose: boolean): (text: string) => void {
  const start = performance.now()
  let kept = ''
  let isShown = isVerbose
  const show = () => {
    if (!isShown && kept !== '') output.note('The server writes:')
    isShown = true
    stderr.write(plainText(kept))
    kept = ''
  }
  // The process must not wait for it.
  if (!isVerbose) setTimeout(show, PATIENCE).unref()
  return (text) => {
    kept = (kept + text).slice(-MAX_KEPT)
    if (isShown || performance.now() - start > PATIENCE) show()
  }
}
