/** Decides what a user sees of the standard error of a server that was started. */

import type { Output } from '../output/output.ts'
import { plainText } from '../output/plain-text.ts'
import type { Terminal } from '../output/terminal.ts'

/** How long a server may take before its output is shown, in ms: it may be waiting for the user. */
const PATIENCE = 5_000
/** How much output is kept until then, in characters. */
const MAX_KEPT = 65_536

/**
 * Receives the standard error of a server. Most of it is of no interest, so it is shown with `--verbose`, or if the server
 * has not started after 5 s. Errors of the connection repeat its last lines in any case.
 */
export class ServerStderr {
  readonly #output: Output
  readonly #stderr: Terminal['stderr']
  readonly #isVerbose: boolean
  #mode: 'kept' | 'shown' | 'hidden'
  #kept = ''

  constructor(output: Output, { stderr }: Terminal, isVerbose: boolean) {
    this.#output = output
    this.#stderr = stderr
    this.#isVerbose = isVerbose
    this.#mode = isVerbose ? 'shown' : 'kept'
    // The process must not wait for it.
    setTimeout(() => this.#show(), PATIENCE).unref()
  }

  /** Accepts text that the server wrote. */
  write(text: string): void {
    if (this.#mode === 'shown') this.#stderr.write(plainText(text))
    else if (this.#mode === 'kept') this.#kept = (this.#kept + text).slice(-MAX_KEPT)
  }

  /** Shows nothing more, except with `--verbose`. */
  hide(): void {
    if (this.#isVerbose) return
    this.#mode = 'hidden'
    this.#kept = ''
  }

  #show(): void {
    if (this.#mode !== 'kept') return
    this.#mode = 'shown'
    if (this.#kept !== '') this.#output.note('The server has not started yet. It writes:')
    this.write(this.#kept)
    this.#kept = ''
  }
}
