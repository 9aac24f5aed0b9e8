/** Creates a bundle (`.mcpb`) of a server: a ZIP file with its files, its dependencies and a manifest. */

import { createHash } from 'node:crypto'
import { cp, mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { type Client, connect } from '@mcpx/client'
import { looksSecret } from '@mcpx/protocol'
import { spawn } from '@mcpx/transport-stdio'
import { CliError, connectError, usageError } from '../output/errors.ts'
import type { Terminal } from '../output/terminal.ts'
import { type BundleFiles, collectFiles } from './bundle-files.ts'
import { type Author, type PackageFacts, requireFact } from './package-facts.ts'

/** The options of the command line. They have precedence over the values in package.json. */
export interface BundleOptions {
  readonly name?: string
  readonly title?: string
  readonly description?: string
  readonly author?: string
  /** The JavaScript file that serves over standard input and output, below the folder of the package. */
  readonly entry?: string
  /** The variables that the server needs, with the values for the check. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether the server of the bundle is started. */
  readonly check: boolean
}

/** A bundle that is not written yet. */
export interface Bundle {
  readonly manifest: BundleManifest
  readonly files: BundleFiles
  /** The number of tools of the server. Undefined if the server was not started. */
  readonly tools: number | undefined
}

/** The `manifest.json` of a bundle. https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md */
export interface BundleManifest {
  readonly manifest_version: '0.3'
  readonly name: string
  readonly version: string
  readonly description: string
  readonly author: Author
  readonly server: {
    readonly type: 'node'
    readonly entry_point: string
    readonly mcp_config: { command: 'node'; args: string[]; env?: Record<string, string> }
  }
  readonly [member: string]: unknown
}

/** How long the server of a bundle may take to start, in ms. */
const CONNECT_TIMEOUT = 20_000

/**
 * Collects the files, starts the server with only these files, and creates the manifest.
 *
 * @throws CliError if a value is missing or invalid, or if the server does not start
 */
export async function createBundle(facts: PackageFacts, options: BundleOptions, terminal: Terminal): Promise<Bundle> {
  const required = await readRequired(facts, options, terminal)
  const files = await collectFiles(facts.folder)
  const entry = checkEntry(options.entry ?? facts.entry, files)
  const found = options.check ? await tryServer(files, entry, options.env, terminal.signal) : undefined
  const env = Object.fromEntries(
    Object.keys(options.env).map((name) => [name, `\${user_config.${name.toLowerCase()}}`]),
  )
  const { repository, homepage, bugs, license, keywords, node } = facts
  const isNative = [...files.keys()].some((path) => path.endsWith('.node'))
  const manifest: BundleManifest = {
    manifest_version: '0.3',
    ...required,
    ...(options.title !== undefined && { display_name: options.title }),
    ...(repository && { repository: { type: 'git', url: repository.url } }),
    ...(homepage !== undefined && { homepage }),
    ...(bugs !== undefined && { support: bugs }),
    ...(files.has('icon.png') && { icon: 'icon.png' }),
    server: {
      type: 'node',
      entry_point: entry,
      mcp_config: {
        command: 'node',
        args: [`\${__dirname}/${entry}`],
        ...(Object.keys(env).length > 0 && { env }),
      },
    },
    ...found,
    ...(keywords.length > 0 && { keywords }),
    ...(license !== undefined && { license }),
    ...((node !== undefined || isNative) && {
      compatibility: {
        // Native code runs only on the platform for which it was compiled.
        ...(isNative && { platforms: [process.platform] }),
        ...(node !== undefined && { runtimes: { node } }),
      },
    }),
    ...(Object.keys(env).length > 0 && { user_config: createUserConfig(Object.keys(env)) }),
  }
  return { manifest, files, tools: found?.tools.length }
}

/** Returns the content of the bundle, and its SHA-256 digest, which the registry requires. */
export async function zipBundle({ manifest, files }: Bundle): Promise<{ content: Uint8Array; sha256: string }> {
  const { zipSync } = await import('fflate')
  const entries: Record<string, [Uint8Array, { mtime: Date }]> = {}
  // With a fixed time, equal files result in an equal bundle.
  const options = { mtime: new Date(2000, 0, 1) }
  entries['manifest.json'] = [new TextEncoder().encode(`${JSON.stringify(manifest, undefined, 2)}\n`), options]
  for (const [path, source] of [...files].sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (path !== 'manifest.json') entries[path] = [await readFile(source), options]
  }
  const content = zipSync(entries)
  return { content, sha256: createHash('sha256').update(content).digest('hex') }
}

async function readRequired(
  { name, version, description, author }: PackageFacts,
  options: BundleOptions,
  terminal: Terminal,
): Promise<Pick<BundleManifest, 'name' | 'version' | 'description' | 'author'>> {
  const require = (fact: 'name' | 'version' | 'description' | 'author', value: string | undefined, question: string) =>
    requireFact(
      {
        name: fact,
        value,
        question,
        remedy: `Add "${fact}" to package.json${fact === 'version' ? '.' : `, or pass --${fact}.`}`,
      },
      terminal,
    )
  return {
    name: await require('name', options.name ??
      name?.replace(/^@/, '').replace('/', '-'), 'What is the name of the server?'),
    version: await require('version', version, 'Which version is it?'),
    description: await require('description', options.description ?? description, 'What does the server do?'),
    author:
      options.author === undefined && author !== undefined
        ? author
        : { name: await require('author', options.author, 'Who is the author?') },
  }
}

function checkEntry(entry: string | undefined, files: BundleFiles): string {
  const remedy = 'Pass --entry with the JavaScript file that serves over standard input and output.'
  if (entry === undefined) throw usageError('entry: package.json has neither "bin" nor "main"', remedy)
  const path = entry.replaceAll('\\', '/').replace(/^\.\//, '')
  if (/\.[cm]?tsx?$/.test(path)) {
    throw usageError(
      `entry: expected JavaScript, got ${path}`,
      'Hosts start the file with their own Node. Compile it first.',
    )
  }
  if (files.has(path)) return path
  throw usageError(
    `entry: ${path} is not among the ${files.size} files of the package`,
    `Build the package, and check "files" in package.json. ${remedy}`,
  )
}

function createUserConfig(names: readonly string[]): Record<string, object> {
  return Object.fromEntries(
    names.map((name) => [
      name.toLowerCase(),
      {
        type: 'string',
        title: name,
        description: `The environment variable ${name}`,
        required: true,
        sensitive: looksSecret(name),
      },
    ]),
  )
}

interface FoundItems {
  readonly tools: readonly { name: string; description?: string }[]
  readonly prompts_generated?: true
}

/** Starts the server from a copy of the files, as a host would, and lists its tools. */
async function tryServer(
  files: BundleFiles,
  entry: string,
  env: BundleOptions['env'],
  signal: AbortSignal,
): Promise<FoundItems> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'mcpx-bundle-')))
  let client: Client | undefined
  try {
    for (const [path, source] of files) await cp(source, join(folder, path))
    const server = spawn(process.execPath, [join(folder, entry)], { cwd: folder, env, stderr: 'ignore' })
    client = await connect(server, { connectTimeout: CONNECT_TIMEOUT, signal })
    const { capabilities } = client.server
    const tools = capabilities.tools === undefined ? [] : await client.listTools().all()
    return {
      tools: tools.map(({ name, description }) => ({ name, ...(description !== undefined && { description }) })),
      // Do not list prompts, because the manifest would have to contain their texts.
      ...(capabilities.prompts !== undefined && { prompts_generated: true }),
    }
  } catch (error) {
    const failure = connectError('the server of the bundle', error, false)
    if (!(failure instanceof CliError)) throw failure
    const remedy = 'Pass the variables that it needs by --env NAME=value, or leave this check out by --no-check.'
    throw new CliError(failure.kind, failure.message.replaceAll(folder, ''), remedy, error)
  } finally {
    await client?.close()
    await rm(folder, { recursive: true, force: true })
  }
}
