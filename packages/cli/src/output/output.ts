/** Writes the results of commands: for people, or as JSON with `--json`. */

import { styleText } from 'node:util'
import { plainJson, plainText } from './plain-text.ts'
import type { Terminal } from './terminal.ts'

/** The styles of text. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'magenta'

/** An event of `mcpx run` or `mcpx dev`, as `--json` prints it. Times are in ms. */
export type ServingEvent =
  | { readonly event: 'serving' | 'inspecting'; readonly url: string }
  | { readonly event: 'started'; readonly time: number }
  /** `kept`: whether the previous version of the server continues. */
  | { readonly event: 'failed'; readonly message: string; readonly kept: boolean }
  | { readonly event: 'exited' | 'warning'; readonly message: string }

/** The members of an error that are printed. */
export interface PrintedError {
  readonly kind: string
  readonly message: string
  readonly hint?: string | undefined
}

/** Writes results to standard output, and notes and errors to standard error. */
export class Output {
  /** Whether `--json` was given. */
  readonly json: boolean
  readonly #terminal: Terminal

  constructor(terminal: Terminal, { json }: { readonly json: boolean }) {
    this.#terminal = terminal
    this.json = json
  }

  /**
   * Writes the result of a command: with `--json` the value, otherwise the text. The value is part of the public
   * interface.
   *
   * @param format returns the text. It must apply `plainText` or `plainLine` to text of servers
   */
  result(value: unknown, format: () => string): void {
    const text = this.json ? plainJson(value) : format()
    if (text !== '') this.#terminal.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }

  /** Writes one of many results, on one line: with `--json` the value. */
  line(value: unknown, format: () => string): void {
    const text = this.json ? plainJson(value, 0) : format()
    this.#terminal.stdout.write(`${text}\n`)
  }

  /**
   * Reports an event of a running server: writes a note for the user, or with `--json` the value as one line of the
   * result.
   */
  event(value: ServingEvent, text: string): void {
    if (this.json) this.line(value, () => text)
    else this.note(text)
  }

  /** Writes a note for the user to standard error, even with `--json`. */
  note(text: string): void {
    this.#terminal.stderr.write(`${this.#styled(this.#terminal.stderr, 'dim', plainText(text))}\n`)
  }

  /** Writes an error: with `--json` as the result. */
  error({ kind, message, hint }: PrintedError): void {
    const { stdout, stderr } = this.#terminal
    if (this.json) return void stdout.write(`${plainJson({ error: { kind, message, ...(hint && { hint }) } })}\n`)
    const lines = [`${this.errorLabel('error:')} ${plainText(message)}`]
    if (hint !== undefined) lines.push(plainText(hint))
    stderr.write(`${lines.join('\n')}\n`)
  }

  /** Returns text for standard error in the style of errors. */
  errorLabel(text: string): string {
    return this.#styled(this.#terminal.stderr, 'red', text)
  }

  /**
   * Returns text for standard output in a style. Returns it unchanged if standard output is not a terminal with
   * colours, or if NO_COLOR is set.
   */
  style(style: Style, text: string): string {
    return this.#styled(this.#terminal.stdout, style, text)
  }

  #styled(stream: Terminal['stdout'], style: Style, text: string): string {
    return stream.isTTY === true && stream.hasColors?.(this.#terminal.env) === true
      ? styleText(style, text, { validateStream: false })
      : text
  }
}
