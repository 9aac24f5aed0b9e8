/** Errors of the OAuth endpoints, and the checks of requests that all endpoints share (RFC 6749, sections 3.1 and 5.2). */

/** A refused request. Its message is sent to the client, so it contains no secret. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  /** The error code, such as `invalid_grant`. */
  readonly code: string
  /** The remedy for the person who sees the error in a browser. */
  readonly remedy: string
  readonly status: number

  constructor(
    code: string,
    message: string,
    { remedy = 'Start the login again in your application.', status = 400 } = {},
  ) {
    super(message)
    this.code = code
    this.remedy = remedy
    this.status = status
  }
}

export const invalidRequest = (message: string) => new OAuthError('invalid_request', message)
export const invalidGrant = (message: string) => new OAuthError('invalid_grant', message)
export const invalidClient = (message: string, remedy?: string) =>
  new OAuthError('invalid_client', message, { status: 401, ...(remedy !== undefined && { remedy }) })

/** Creates the error for a temporary failure of this server or the provider. */
export const unavailable = (message: string) =>
  new OAuthError('temporarily_unavailable', message, { status: 503, remedy: 'Try again in a minute.' })

/** Creates the error response of an endpoint for programs. */
export function errorResponse({ code, message, status }: OAuthError): Response {
  const headers: Record<string, string> = {}
  if (status === 401) headers['www-authenticate'] = 'Basic realm="oauth"'
  if (status === 503) headers['retry-after'] = '5'
  return jsonResponse({ error: code, error_description: plain(message) }, status, headers)
}

export function jsonResponse(body: object, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  const standard = { 'content-type': 'application/json', 'cache-control': 'no-store', pragma: 'no-cache' }
  return new Response(JSON.stringify(body), { status, headers: { ...standard, ...headers } })
}

/** Replaces characters that RFC 6749 does not permit in `error_description`. */
export function plain(text: string): string {
  return text.replaceAll('"', "'").replace(/[^\x20-\x7e]|\\/g, '?')
}

/** The parameters of a request. A parameter that is sent twice is an error. Empty parameters count as missing. */
export class Parameters {
  readonly #params: URLSearchParams

  constructor(params: URLSearchParams) {
    this.#params = params
    const names = new Set<string>()
    for (const name of params.keys()) {
      if (names.has(name)) throw invalidRequest(`${plain(name).slice(0, 40)}: expected one value, got several`)
      names.add(name)
    }
  }

  get(name: string, maxLength = 4_096): string | undefined {
    const value = this.#params.get(name) || undefined
    if (value === undefined || value.length <= maxLength) return value
    throw invalidRequest(`${name}: expected at most ${maxLength} characters, got ${value.length}`)
  }

  require(name: string, maxLength?: number): string {
    const value = this.get(name, maxLength)
    if (value === undefined) throw invalidRequest(`${name}: expected a value, got none`)
    return value
  }
}

/** Reads a form. The size of the body was checked before. */
export async function readForm(request: Request): Promise<Parameters> {
  requireType(request, 'application/x-www-form-urlencoded')
  return new Parameters(new URLSearchParams(await request.text()))
}

/** Throws if the content type is another one. This prevents requests of pages of other origins without a preflight. */
export function requireType({ headers }: Request, expected: string): void {
  const [type = ''] = (headers.get('content-type') ?? '').toLowerCase().split(';', 1)
  if (type.trim() !== expected) throw invalidRequest(`content-type: expected ${expected}, got another one`)
}
