/** Decides which part of a server's standard error is shown. */

import type { Output } from '../output/output.ts'
import { plainText } from '../output/plain-text.ts'
import type { Terminal } from '../output/terminal.ts'

/** If a server has not started after this time, in ms, its output is shown, because it may be waiting for the user. */
const PATIENCE = 5_000
/** How much output is kept before the server has started, in characters. */
const MAX_KEPT = 65_536

/**
 * Receives the standard error of a server. Shows it with `--verbose`, or if the server has not started after 5 s.
 * Connection errors always repeat its last lines.
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
    // The timer must not keep the process running.
    setTimeout(() => this.#show(), PATIENCE).unref()
  }

  /** Adds text that the server has written. */
  write(text: string): void {
    if (this.#mode === 'shown') this.#stderr.write(plainText(text))
    else if (this.#mode === 'kept') this.#kept = (this.#kept + text).slice(-MAX_KEPT)
  }

  /** Hides further output, except with `--verbose`. */
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
