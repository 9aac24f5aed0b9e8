/** Creates the `server.json` of a server for the MCP Registry. https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json */

import { looksSecret } from '@mcpx/protocol'
import { usageError } from '../output/errors.ts'
import type { Terminal } from '../output/terminal.ts'
import { type PackageFacts, type Repository, requireFact } from './package-facts.ts'

/** The revision of the format. */
const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

/** The options of the command line. They have precedence over the values in package.json. */
export interface RegistryOptions {
  readonly name?: string
  readonly title?: string
  readonly description?: string
  /** The URLs where the server is hosted. */
  readonly url: readonly string[]
  /** The names of the variables that the server needs. */
  readonly env: readonly string[]
}

/** A server as the registry lists it. */
export interface RegistryManifest {
  readonly $schema: string
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly version: string
  readonly repository?: { url: string; source: string; subfolder?: string }
  readonly websiteUrl?: string
  readonly packages?: readonly RegistryPackage[]
  readonly remotes?: readonly { type: 'streamable-http'; url: string }[]
}

interface RegistryPackage {
  readonly registryType: string
  readonly identifier: string
  readonly version: string
  readonly transport: { readonly type: 'stdio' }
  readonly environmentVariables?: readonly { name: string; isRequired: boolean; isSecret: boolean }[]
}

/**
 * Creates the manifest from the facts of a package.
 *
 * @throws CliError if a value is missing or invalid
 */
export async function createRegistryManifest(
  facts: PackageFacts,
  options: RegistryOptions,
  terminal: Terminal,
): Promise<RegistryManifest> {
  const { mcpName, repository, homepage } = facts
  const name = await requireFact(
    {
      name: 'name',
      value: options.name ?? mcpName,
      question: 'What is the name of the server in the registry?',
      proposal: proposeName(repository, facts.name),
      remedy: 'Add "mcpName": "io.github.<user>/<server>" to package.json, or pass --name.',
      problemOf: nameProblem,
    },
    terminal,
  )
  if (mcpName !== undefined && mcpName !== name) {
    throw usageError(
      `name: expected ${JSON.stringify(mcpName)}, the "mcpName" of package.json, got ${JSON.stringify(name)}`,
      'The registry refuses a server whose package has another name. Change one of them.',
    )
  }
  const description = await requireFact(
    {
      name: 'description',
      value: options.description ?? facts.description,
      question: 'What does the server do?',
      remedy: 'Pass --description, or change "description" in package.json.',
      problemOf: (text) => lengthProblem(text, 100),
    },
    terminal,
  )
  const version = await requireFact(
    {
      name: 'version',
      value: facts.version,
      question: 'Which version is it?',
      proposal: '1.0.0',
      remedy: 'Add "version" to package.json.',
      problemOf: versionProblem,
    },
    terminal,
  )
  const { title } = options
  const titleProblem = title === undefined ? undefined : lengthProblem(title, 100)
  if (titleProblem !== undefined) throw usageError(`--title: ${titleProblem}`)
  const packages = facts.isPrivate || facts.name === undefined ? [] : [createPackage(facts.name, version, options.env)]
  const remotes = options.url.map((url) => ({ type: 'streamable-http' as const, url: checkUrl(url) }))
  if (packages.length + remotes.length === 0) {
    throw usageError(
      'packages: the package is private, so users cannot install it',
      'Remove "private" from package.json, or name the URL of the hosted server by --url.',
    )
  }
  const source = repository && sourceOf(repository)
  return {
    $schema: SCHEMA,
    name,
    ...(title !== undefined && { title }),
    description,
    version,
    ...(repository &&
      source && { repository: { ...source, ...(repository.folder && { subfolder: repository.folder }) } }),
    ...(homepage !== undefined && { websiteUrl: homepage }),
    ...(packages.length > 0 && { packages }),
    ...(remotes.length > 0 && { remotes }),
  }
}

/**
 * Returns the existing manifest with the new version, and with the members that an option of the command line sets. Its
 * other members stay.
 *
 * @param hasOption returns whether an option of the command line sets a member
 */
export function updateRegistryManifest(
  old: Record<string, unknown>,
  created: RegistryManifest,
  hasOption: (member: keyof RegistryManifest) => boolean,
): Record<string, unknown> {
  const chosen = Object.entries(created).filter(([member]) => hasOption(member as keyof RegistryManifest))
  const { $schema, version, packages: ours } = created
  const packages = Array.isArray(old.packages)
    ? old.packages.map((each: Partial<RegistryPackage>) =>
        ours?.some(({ identifier }) => identifier === each.identifier) ? { ...each, version } : each,
      )
    : ours
  return { ...created, ...old, ...Object.fromEntries(chosen), $schema, version, ...(packages && { packages }) }
}

function createPackage(identifier: string, version: string, env: readonly string[]): RegistryPackage {
  const variables = env.map((name) => ({ name, isRequired: true, isSecret: looksSecret(name) }))
  return {
    registryType: 'npm',
    identifier,
    version,
    transport: { type: 'stdio' },
    ...(variables.length > 0 && { environmentVariables: variables }),
  }
}

function nameProblem(name: string): string | undefined {
  const isValid = /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(name) && name.length >= 3 && name.length <= 200
  return isValid
    ? undefined
    : `expected a domain backwards, a slash and a name, such as io.github.ada/shop, got ${JSON.stringify(name)}`
}

function versionProblem(version: string): string | undefined {
  const isExact = /^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/.test(version) && version.length <= 255
  return isExact ? undefined : `expected an exact version such as 1.0.0, got ${JSON.stringify(version)}`
}

function lengthProblem(text: string, limit: number): string | undefined {
  return text.length <= limit ? undefined : `expected at most ${limit} characters, got ${text.length}`
}

function checkUrl(url: string): string {
  const isPublic = URL.canParse(url) && /^https?:\/\/\S+$/.test(url)
  if (isPublic && !/^(?:localhost|127\.|\[::1\])/.test(new URL(url).hostname)) return url
  throw usageError(`--url: expected the public URL of the server, got ${JSON.stringify(url)}`)
}

/** Proposes a name that a user who is logged in at GitHub may publish. */
function proposeName(repository: Repository | undefined, name: string | undefined): string | undefined {
  const [, owner] = /^https:\/\/github\.com\/([\w.-]+)\//.exec(repository?.url ?? '') ?? []
  return owner && name && `io.github.${owner}/${name.replace(/^@[^/]+\//, '')}`
}

function sourceOf({ url }: Repository): { url: string; source: string } | undefined {
  const [, source] = /^https:\/\/(github|gitlab)\.com\//.exec(url) ?? []
  return source === undefined ? undefined : { url, source }
}
