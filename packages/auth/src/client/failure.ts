/** Makes the errors of this half: each names the step and the URL, and holds nothing that is secret. */

import { AuthError, type AuthStep } from '../auth-error.ts'

export interface FailureDetails {
  readonly url?: string | URL | undefined
  readonly hint?: string | undefined
  readonly cause?: unknown
}

export function failure(step: AuthStep, message: string, { url, hint, cause }: FailureDetails = {}): AuthError {
  return new AuthError(message, { step, url: url === undefined ? undefined : bareUrl(url), hint, cause })
}

/** Query and fragment may carry codes and states, and the part before the host a password. */
function bareUrl(url: string | URL): string {
  if (!URL.canParse(url.toString())) return quote(url.toString())
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}

/** The longest text of a peer that is shown, in characters. */
const MOST_SHOWN = 200

/** What a peer said, short and on one line. */
export function quote(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
  const plain = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e]+/g, ' ')
  return plain.length > MOST_SHOWN ? `${plain.slice(0, MOST_SHOWN)}…` : plain
}

/** A text without the secrets that were sent to whoever wrote it. */
export function redact(text: string, secrets: Iterable<string>): string {
  let safe = text
  for (const secret of secrets) if (secret.length > 3) safe = safe.replaceAll(secret, '[redacted]')
  return safe
}
