/**
 * Reads the name, the version and other facts about a server from its package.json, and asks the user for missing ones.
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, kindOf } from '@mcpx/protocol'
import { usageError } from '../output/errors.ts'
import type { Terminal } from '../output/terminal.ts'

/** The facts of a package.json. */
export interface PackageFacts {
  readonly folder: string
  readonly name: string | undefined
  readonly version: string | undefined
  readonly description: string | undefined
  /** The name of the server in the registry, which the registry compares with the published package. */
  readonly mcpName: string | undefined
  readonly isPrivate: boolean
  readonly author: Author | undefined
  readonly repository: Repository | undefined
  readonly homepage: string | undefined
  /** The URL for reports of bugs. */
  readonly bugs: string | undefined
  readonly license: string | undefined
  readonly keywords: readonly string[]
  /** The file in `bin` of package.json, otherwise in `main`, as a path below the folder. */
  readonly entry: string | undefined
  /** The range of versions of Node. */
  readonly node: string | undefined
}

/** The author of a package. */
export interface Author {
  readonly name: string
  readonly email?: string
  readonly url?: string
}

/** The repository of a package, as a URL that a browser can open. */
export interface Repository {
  readonly url: string
  readonly folder: string | undefined
}

/**
 * Reads the package.json of a folder.
 *
 * @throws CliError if the file does not exist, or is not valid JSON
 */
export async function readPackage(folder: string): Promise<PackageFacts> {
  const file = join(folder, 'package.json')
  const { name, version, description, mcpName, author, repository, homepage, bugs, ...rest } = await readJson(file)
  const { license, keywords, bin, main, engines } = rest
  return {
    folder,
    name: stringOf(name),
    version: stringOf(version),
    description: stringOf(description),
    mcpName: stringOf(mcpName),
    isPrivate: rest.private === true,
    author: readAuthor(author),
    repository: readRepository(repository),
    homepage: urlOf(homepage),
    bugs: urlOf(isObject(bugs) ? bugs.url : bugs),
    license: stringOf(license),
    keywords: Array.isArray(keywords) ? keywords.filter((each) => typeof each === 'string') : [],
    entry: (stringOf(firstOf(bin)) ?? stringOf(main))?.replace(/^\.\//, ''),
    node: isObject(engines) ? stringOf(engines.node) : undefined,
  }
}

async function readJson(file: string): Promise<Record<string, unknown>> {
  const text = await readFile(file, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    throw usageError(`${file} cannot be read: ${code}`, 'Run mcpx export in the folder of the package, or name it.')
  })
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch (cause) {
    throw usageError(`${file} is not valid JSON: ${(cause as Error).message}`)
  }
  if (isObject(content)) return content
  throw usageError(`${file}: expected an object, got ${kindOf(content)}`)
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

function urlOf(value: unknown): string | undefined {
  const text = stringOf(value)
  return text !== undefined && /^https?:/.test(text) && URL.canParse(text) ? text : undefined
}

function firstOf(bin: unknown): unknown {
  return isObject(bin) ? Object.values(bin)[0] : bin
}

/** Reads `{ name, email, url }`, or `Ada <ada@example.com> (https://example.com)`. */
function readAuthor(author: unknown): Author | undefined {
  const [, plain, mail, page] = /^([^<(]+)(?:<([^>]+)>)?\s*(?:\(([^)]+)\))?/.exec(stringOf(author) ?? '') ?? []
  const { name = plain, email = mail, url = page } = isObject(author) ? author : {}
  const ownName = stringOf(name)
  if (ownName === undefined) return undefined
  const [ownEmail = '', ownUrl] = [stringOf(email), urlOf(url)]
  const isEmail = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(ownEmail)
  return { name: ownName, ...(isEmail && { email: ownEmail }), ...(ownUrl && { url: ownUrl }) }
}

/**
 * Reads all forms that npm allows: a URL, `github:owner/name`, `owner/name`, or an object whose `url` is one of these.
 */
function readRepository(repository: unknown): Repository | undefined {
  const { url, directory } = isObject(repository) ? repository : { url: repository }
  const text = stringOf(url) ?? ''
  const [, host = 'github', path] = /^(?:(github|gitlab|bitbucket):)?([\w.-]+\/[\w.-]+)$/.exec(text) ?? []
  const domain = host === 'bitbucket' ? 'bitbucket.org' : `${host}.com`
  const whole = path === undefined ? text : `https://${domain}/${path}`
  const page = urlOf(
    whole
      .replace(/^git\+/, '')
      .replace(/^(?:ssh:\/\/)?git@([^:/]+)[:/]/, 'https://$1/')
      .replace(/^git:/, 'https:')
      .replace(/\.git$/, ''),
  )
  return page === undefined ? undefined : { url: page, folder: stringOf(directory) }
}

/** A fact that a manifest must have. */
export interface RequiredFact {
  /** The member of the manifest. */
  readonly name: string
  readonly value: string | undefined
  /** The question for the user. */
  readonly question: string
  /** A likely answer. */
  readonly proposal?: string | undefined
  /** How to provide the value without a terminal, as a sentence. */
  readonly remedy: string
  /** Returns why a value is refused, such as "expected at most 100 characters, got 120". */
  readonly problemOf?: (value: string) => string | undefined
}

/**
 * Returns a fact. If it is missing or invalid, asks the user in the terminal.
 *
 * @throws CliError without a terminal, and if the user cancels
 */
export async function requireFact(
  { name, value, question, proposal, remedy, problemOf = () => undefined }: RequiredFact,
  { isInteractive, stdin, stderr }: Terminal,
): Promise<string> {
  const problem = value === undefined ? 'is missing' : problemOf(value)
  if (value !== undefined && problem === undefined) return value
  if (!isInteractive) throw usageError(`${name}: ${problem}`, remedy)
  const { text, isCancel } = await import('@clack/prompts')
  const answer = await text({
    message: value === undefined ? question : `${question} (${name}: ${problem})`,
    initialValue: value ?? proposal ?? '',
    validate: (given = '') => (given.trim() === '' ? 'expected a text' : problemOf(given.trim())),
    input: stdin,
    output: stderr,
  })
  if (isCancel(answer)) throw usageError(`${name}: ${problem}`, remedy)
  return answer.trim()
}
