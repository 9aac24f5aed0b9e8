/** What the endpoints answer: JSON that is not to be kept, and errors by their OAuth names. */

export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly code: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(code: string, description: string, status = 400, headers: Readonly<Record<string, string>> = {}) {
    super(description)
    this.code = code
    this.status = status
    this.headers = headers
  }
}

export function jsonAnswer(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...OPEN, ...headers },
  })
}

export function errorAnswer({ code, message, status, headers }: OAuthError): Response {
  return jsonAnswer({ error: code, error_description: message }, status, headers)
}

export function preflight(): Response {
  const headers = { ...OPEN, 'access-control-allow-methods': 'GET, POST', 'access-control-allow-headers': ALLOWED }
  return new Response(null, { status: 204, headers })
}

/** Clients that are web pages read everything here. */
const OPEN = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'dpop-nonce, www-authenticate' }
const ALLOWED = 'authorization, content-type, dpop, mcp-protocol-version'

const MAX_FORM = 64 * 1024

/** The members of a form, each at most once, but for `resource`. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  const type = request.headers.get('content-type') ?? ''
  if (!type.toLowerCase().startsWith('application/x-www-form-urlencoded')) {
    throw new OAuthError('invalid_request', 'Expected application/x-www-form-urlencoded')
  }
  return checkForm(new URLSearchParams(await readLimited(request)))
}

export async function readLimited(request: Request): Promise<string> {
  const text = await request.text()
  if (text.length > MAX_FORM) throw new OAuthError('invalid_request', `The body is longer than ${MAX_FORM}`, 413)
  return text
}

export function checkForm(form: URLSearchParams): URLSearchParams {
  for (const name of new Set(form.keys())) {
    if (name !== 'resource' && name !== 'audience' && form.getAll(name).length > 1) {
      throw new OAuthError('invalid_request', `${name} is there more than once`)
    }
  }
  return form
}

export function required(form: URLSearchParams, name: string): string {
  const value = form.get(name)
  if (value === null || value === '') throw new OAuthError('invalid_request', `${name} is missing`)
  return value
}

export function scopesOf(text: string | null | undefined): string[] {
  return (text ?? '').split(' ').filter((scope) => scope !== '')
}
