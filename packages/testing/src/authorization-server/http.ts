/** Requests and responses of the endpoints: forms, JSON, OAuth errors and CORS. */

/** An error response of OAuth: https://www.rfc-editor.org/rfc/rfc6749#section-5.2 */
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

export function invalidClient(description: string): OAuthError {
  return new OAuthError('invalid_client', description, 401, { 'www-authenticate': 'Basic realm="dev"' })
}

export function invalidGrant(description: string): OAuthError {
  return new OAuthError('invalid_grant', description)
}

/** Web pages of any origin may read every response. */
const cors = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'dpop-nonce, www-authenticate' }

export function jsonResponse(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...cors, ...headers },
  })
}

export function errorResponse({ code, message, status, headers }: OAuthError): Response {
  return jsonResponse({ error: code, error_description: message }, status, headers)
}

export function preflightResponse(): Response {
  const headers = {
    ...cors,
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': 'authorization, content-type, dpop, mcp-protocol-version',
  }
  return new Response(null, { status: 204, headers })
}

/** The largest request body, in characters. */
const MAX_BODY = 64 * 1024

export async function readBody(request: Request): Promise<string> {
  const body = await request.text()
  if (body.length > MAX_BODY) {
    throw new OAuthError('invalid_request', `body: expected at most ${MAX_BODY} characters, got ${body.length}`, 413)
  }
  return body
}

export async function readForm(request: Request): Promise<URLSearchParams> {
  const type = request.headers.get('content-type') ?? ''
  if (!type.toLowerCase().startsWith('application/x-www-form-urlencoded')) {
    throw new OAuthError('invalid_request', 'content-type: expected application/x-www-form-urlencoded')
  }
  return refuseRepeated(new URLSearchParams(await readBody(request)))
}

/** Refuses repeated parameters, except parameters that OAuth allows to repeat. */
export function refuseRepeated(form: URLSearchParams): URLSearchParams {
  for (const name of new Set(form.keys())) {
    if (name !== 'resource' && name !== 'audience' && form.getAll(name).length > 1) {
      throw new OAuthError('invalid_request', `${name}: expected one value, got several`)
    }
  }
  return form
}

export function requireParameter(form: URLSearchParams, name: string): string {
  const value = form.get(name)
  if (value === null || value === '') throw new OAuthError('invalid_request', `${name}: expected a value, got none`)
  return value
}

export function parseScopes(text: string | null | undefined): string[] {
  return (text ?? '').split(' ').filter((scope) => scope !== '')
}
