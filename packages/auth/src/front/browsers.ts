/** Recognizes the browser of a login by a cookie, so that all steps of the login happen in one browser. */

import { sha256 } from '../resource-server/dpop.ts'
import { OAuthError } from './oauth-error.ts'
import { randomId } from './seals.ts'

const COOKIES_REMEDY = 'Start the login again in your application, in a browser that accepts cookies of this site.'

export class Browsers {
  readonly #name: string
  readonly #attributes: string

  /** @param maxAge how long a browser is recognized, in ms */
  constructor({ protocol }: URL, maxAge: number) {
    // The prefix keeps other hosts of the domain from setting the cookie. Browsers accept it over HTTPS only.
    const isSecure = protocol === 'https:'
    this.#name = isSecure ? '__Host-mcpx-login' : 'mcpx-login'
    const seconds = Math.ceil(maxAge / 1_000)
    this.#attributes = `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  }

  /** Returns the id of the browser, hashed, and the header that sets the cookie. The same browser keeps its id. */
  async recognize(request: Request): Promise<{ readonly browser: string; readonly cookie: string }> {
    const id = this.#cookie(request) ?? randomId()
    return { browser: await sha256(id), cookie: `${this.#name}=${id}; ${this.#attributes}` }
  }

  /** Throws unless the request is from this browser. */
  async require(request: Request, browser: string): Promise<void> {
    const id = this.#cookie(request)
    if (id !== undefined && (await sha256(id)) === browser) return
    const problem = id === undefined ? 'this browser sent no cookie' : 'it was started in another browser'
    throw new OAuthError('access_denied', `The login is refused: ${problem}`, { status: 403, remedy: COOKIES_REMEDY })
  }

  /** Returns the id of the browser. Undefined without the cookie. Throws if there are several. */
  #cookie({ headers }: Request): string | undefined {
    const pairs = (headers.get('cookie') ?? '').split(';').map((pair) => pair.trim())
    const found = pairs.filter((pair) => pair.startsWith(`${this.#name}=`))
    if (found.length > 1) {
      const remedy = 'Delete the cookies of this site, and start the login again in your application.'
      throw new OAuthError('invalid_request', 'cookie: expected one value, got several', { remedy })
    }
    const id = found[0]?.slice(this.#name.length + 1)
    return id !== undefined && /^[\w-]{43}$/.test(id) ? id : undefined
  }
}
