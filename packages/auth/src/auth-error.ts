/** `AuthError`, and functions that remove secrets and control characters from error messages. */

/** The steps that can fail, from discovery to the use of a token. */
export type AuthStep =
  | 'discovery'
  | 'registration'
  | 'authorization'
  | 'token'
  | 'refresh'
  | 'verification'
  | 'revocation'
  | 'storage'

/** The details of an `AuthError`. */
export interface AuthErrorOptions {
  /** The step that failed. */
  readonly step: AuthStep
  /** The URL of the request that failed. The error removes its query, its fragment and its credentials. */
  readonly url?: string | URL | undefined
  /** The remedy, as a sentence. */
  readonly hint?: string | undefined
  /** The error that caused this one. */
  readonly cause?: unknown
}

/** An authorization step that failed. It is never sent to a peer, and contains no token or other secret. */
export class AuthError extends Error {
  override readonly name = 'AuthError'
  /** The step that failed. */
  readonly step: AuthStep
  /** The URL of the request that failed, without query, fragment and credentials. */
  readonly url: string | undefined
  /** The remedy, as a sentence. */
  readonly hint: string | undefined

  constructor(message: string, { step, url, hint, cause }: AuthErrorOptions) {
    const plainUrl = url === undefined ? undefined : withoutSecrets(url)
    const place = plainUrl === undefined ? '' : ` (${plainUrl})`
    const remedy = hint === undefined ? '' : ` ${hint}`
    super(`${step}: ${message}${place}.${remedy}`, cause === undefined ? undefined : { cause })
    this.step = step
    this.url = plainUrl
    this.hint = hint
  }
}

/**
 * Removes the parts of a URL that may be secret: the query and the fragment, with codes and states, and a password
 * before the host.
 */
function withoutSecrets(url: string | URL): string {
  if (!URL.canParse(url.toString())) return printable(url.toString())
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}

/** The longest part of an error message that comes from a peer, in characters. */
const MAX_PRINTED = 200

/** Converts a value from a peer to a short string on one line, without control characters, for an error message. */
export function printable(value: unknown): string {
  const text = typeof value === 'string' ? value : jsonOf(value)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not reach a terminal
  const plain = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e]+/g, ' ')
  return plain.length > MAX_PRINTED ? `${plain.slice(0, MAX_PRINTED)}…` : plain
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return 'a value that is nested too deeply'
  }
}

/** Removes secrets from a string of a peer. A peer may repeat secrets that it has received. */
export function redact(text: string, secrets: Iterable<string>): string {
  let safe = text
  for (const secret of secrets) {
    if (secret.length > 3) safe = safe.replaceAll(secret, '[redacted]')
  }
  return safe
}
