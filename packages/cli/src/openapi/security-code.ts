/**
 * Writes functions that add credentials to requests. The credentials come from environment variables, never from
 * arguments of tools.
 */

import { isObject } from '@mcpx/protocol'
import { dereference } from './document.ts'
import { listLiteral, pascalCase, stringLiteral, uniqueName } from './literals.ts'
import type { RequestPlan } from './operations.ts'

interface Scheme {
  /** The name of the function. */
  readonly name: string
  readonly variables: readonly string[]
  /** The statement that adds the credentials. */
  readonly code: string
}

/** Collects the schemes that operations use. */
export class SecurityCode {
  /** Sentences about schemes that are not supported. */
  readonly warnings: string[] = []
  readonly #root: Record<string, unknown>
  readonly #prefix: string
  readonly #bearer: string | undefined
  readonly #schemes = new Map<string, Scheme | undefined>()
  /** The names of functions that are in use. The code of `runtimeCode` contains `addCookie`. */
  readonly #names = new Set(['addCookie'])
  readonly #variables = new Set<string>()

  /**
   * @param prefix the prefix of all environment variables
   * @param bearer the environment variable with a token for operations without a scheme
   */
  constructor(root: Record<string, unknown>, prefix: string, bearer: string | undefined) {
    this.#root = root
    this.#prefix = prefix
    this.#bearer = bearer
  }

  /** The environment variables of all schemes in use. */
  get variables(): readonly string[] {
    return [...this.#schemes.values()].flatMap((scheme) => scheme?.variables ?? [])
  }

  /** Returns the expression for the credentials of an operation, or an empty string. */
  use({ security, anonymous }: Pick<RequestPlan, 'security' | 'anonymous'>): string {
    const schemes = security.map((name) => this.#schemeOf(name)).filter((scheme) => scheme !== undefined)
    if (security.length === 0 && this.#bearer !== undefined) schemes.push(this.#bearerScheme(this.#bearer))
    if (schemes.length === 0) return ''
    const list = listLiteral(schemes.map(({ name }) => name))
    const [variable] = schemes.flatMap(({ variables }) => variables)
    return anonymous ? `process.env.${variable} === undefined ? [] : ${list}` : list
  }

  /** Returns the functions. */
  functions(): string[] {
    return [...this.#schemes.values()].flatMap((scheme) => {
      if (scheme === undefined) return []
      const parameter = /\bquery\b/.test(scheme.code) ? 'query' : 'headers'
      return `function ${scheme.name}({ ${parameter} }: Outgoing): void {\n  ${scheme.code}\n}`
    })
  }

  #bearerScheme(variable: string): Scheme {
    const key = `bearer ${variable}`
    const code = `headers.set('authorization', \`Bearer \${${readCode(variable)}}\`)`
    const known = this.#schemes.get(key)
    const scheme = known ?? { name: uniqueName('addToken', this.#names), variables: [variable], code }
    this.#schemes.set(key, scheme)
    return scheme
  }

  #schemeOf(name: string): Scheme | undefined {
    if (!this.#schemes.has(name)) this.#schemes.set(name, this.#read(name))
    return this.#schemes.get(name)
  }

  #read(key: string): Scheme | undefined {
    const components = isObject(this.#root.components) ? this.#root.components : {}
    const all = isObject(components.securitySchemes) ? components.securitySchemes : {}
    const source = Object.hasOwn(all, key) ? dereference(all[key], this.#root, 'securitySchemes') : {}
    const scheme = this.#codeOf(source, key)
    if (scheme === undefined) {
      const kind = [source.type, source.scheme].filter((each) => typeof each === 'string').join(' ') || 'unknown'
      this.warnings.push(
        `The security scheme ${JSON.stringify(key)} (${kind}) is not supported. Add its credentials by hand.`,
      )
      return undefined
    }
    return { name: uniqueName(`add${pascalCase(key)}`, this.#names), ...scheme }
  }

  #codeOf({ type, scheme, in: place, name }: Record<string, unknown>, key: string): Omit<Scheme, 'name'> | undefined {
    const kind = typeof scheme === 'string' ? scheme.toLowerCase() : ''
    if (type === 'http' && kind === 'basic') {
      const variables = [this.#variable(`${key}_USERNAME`), this.#variable(`${key}_PASSWORD`)]
      const [user = '', password = ''] = variables.map(readCode)
      const value = `Buffer.from(\`\${${user}}:\${${password}}\`).toString('base64')`
      return { variables, code: `headers.set('authorization', \`Basic \${${value}}\`)` }
    }
    const variable = this.#variable(key)
    const value = readCode(variable)
    const variables = [variable]
    if ((type === 'http' && kind === 'bearer') || type === 'oauth2' || type === 'openIdConnect') {
      return { variables, code: `headers.set('authorization', \`Bearer \${${value}}\`)` }
    }
    if (type !== 'apiKey' || typeof name !== 'string') return undefined
    if (place === 'query') return { variables, code: `query.set(${stringLiteral(name)}, ${value})` }
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return undefined
    if (place === 'header') return { variables, code: `headers.set(${stringLiteral(name)}, ${value})` }
    if (place === 'cookie') return { variables, code: `addCookie(headers, ${stringLiteral(name)}, ${value})` }
    return undefined
  }

  #variable(key: string): string {
    const name = key
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replace(/[^A-Za-z0-9]+/g, '_')
      .replace(/^_+|(?<!_)_+$/g, '')
      .toUpperCase()
    return uniqueName(`${this.#prefix}_${name || 'SECRET'}`.slice(0, 80), this.#variables)
  }
}

function readCode(variable: string): string {
  return `variable(${stringLiteral(variable)})`
}
