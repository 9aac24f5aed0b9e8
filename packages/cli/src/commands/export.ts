/** `mcpx export`: describes a server for the MCP Registry, or packs it into a bundle. */

import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isObject } from '@mcpx/protocol'
import { Argument, type Command } from 'commander'
import { createBundle, zipBundle } from '../export/bundle.ts'
import { readPackage } from '../export/package-facts.ts'
import { createRegistryManifest, type RegistryManifest, updateRegistryManifest } from '../export/registry-manifest.ts'
import { usageError } from '../output/errors.ts'
import { plainText } from '../output/plain-text.ts'
import { addJsonOption, collect } from '../server/options.ts'
import { parseSettings } from '../server/settings.ts'
import type { CommandContext } from './index.ts'

interface ExportOptions {
  readonly name?: string
  readonly title?: string
  readonly description?: string
  readonly author?: string
  readonly entry?: string
  readonly url: readonly string[]
  readonly env: readonly string[]
  readonly output?: string
  readonly check: boolean
  readonly dryRun?: boolean
}

const HELP = `
If server.json already exists, its name, title and description are kept, unless an option replaces them.

Examples:
  mcpx export server.json --env SHOP_TOKEN
  mcpx export server.json --url https://mcp.example.com/mcp
  mcpx export mcpb --entry dist/server.js --env SHOP_TOKEN=abc`

export function define(command: Command, context: CommandContext): void {
  addJsonOption(
    command
      .addArgument(
        new Argument('<format>', 'server.json for the MCP Registry, or mcpb for a bundle').choices([
          'server.json',
          'mcpb',
        ]),
      )
      .argument('[folder]', 'the folder of the package; default: the current folder'),
  )
    .option(
      '--name <name>',
      'the name in the manifest; default, from package.json: "mcpName" if the format is server.json, "name" if it is mcpb',
    )
    .option('--title <title>', 'the name that people see')
    .option('--description <text>', 'the description in the manifest; default: "description" of package.json')
    .option('--author <name>', 'the author of the bundle (mcpb only); default: "author" of package.json')
    .option(
      '--entry <file>',
      'the JavaScript file that serves over standard input and output (mcpb only); default: "bin", otherwise "main" of package.json',
    )
    .option('--url <url>', 'the URL of the hosted server (server.json only); may be repeated', collect, [])
    .option(
      '--env <name>',
      'a variable that users have to set; with mcpb, <name>=<value> also gives it a value when the server is started to test the bundle; may be repeated',
      collect,
      [],
    )
    .option('--output <file>', 'the file to write; default: server.json, or <name>-<version>.mcpb')
    .option('--no-check', 'do not start the server to test the bundle (mcpb only)')
    .option('--dry-run', 'print the manifest, and write nothing')
    .addHelpText('after', HELP)
    .action(async (format: 'server.json' | 'mcpb', folder: string | undefined, options: ExportOptions) => {
      const path = resolve(context.terminal.cwd, folder ?? '')
      await (format === 'mcpb' ? exportBundle(context, path, options) : exportManifest(context, path, options))
    })
}

async function exportManifest(context: CommandContext, folder: string, options: ExportOptions): Promise<void> {
  const { terminal, output } = context
  refuseOptions(options, 'server.json', ['author', 'entry'])
  const file = resolve(terminal.cwd, options.output ?? resolve(folder, 'server.json'))
  const old = await readManifest(file)
  const facts = await readPackage(folder)
  const env = Object.keys(parseVariables(options.env))
  const optionsOrOldValues = { ...pickStrings(old, ['name', 'title', 'description']), ...options, env }
  const created = await createRegistryManifest(facts, optionsOrOldValues, terminal)
  const hasOption = (member: keyof RegistryManifest) =>
    (member === 'packages' && env.length > 0) ||
    (member === 'remotes' && options.url.length > 0) ||
    (member in options && options[member as keyof ExportOptions] !== undefined)
  const manifest = old === undefined ? created : updateRegistryManifest(old, created, hasOption)
  const text = `${JSON.stringify(manifest, undefined, 2)}\n`
  if (options.dryRun !== true) await writeFile(file, text)
  output.result({ file, manifest, written: options.dryRun !== true }, () =>
    options.dryRun === true ? plainText(text) : plainText(`Wrote ${file}`),
  )
  if (facts.mcpName === undefined && created.packages !== undefined) {
    output.note(
      `Add "mcpName": ${JSON.stringify(created.name)} to package.json: the registry looks for it in the package.`,
    )
  }
}

async function exportBundle(
  { terminal, output }: CommandContext,
  folder: string,
  options: ExportOptions,
): Promise<void> {
  refuseOptions(options, 'mcpb', ['url'])
  const env = parseVariables(options.env)
  for (const [name, value] of Object.entries(env)) env[name] = value ?? terminal.env[name]
  const bundle = await createBundle(await readPackage(folder), { ...options, env }, terminal)
  const { manifest, files, tools } = bundle
  const file = resolve(terminal.cwd, options.output ?? `${manifest.name}-${manifest.version}.mcpb`)
  if (options.dryRun === true) {
    return output.result({ file, manifest, files: [...files.keys()].sort(), written: false }, () =>
      plainText(JSON.stringify(manifest, undefined, 2)),
    )
  }
  const { content, sha256 } = await zipBundle(bundle)
  await writeFile(file, content)
  output.result(
    { file, manifest, files: [...files.keys()].sort(), size: content.length, sha256, written: true },
    () => {
      const checked =
        tools === undefined
          ? ''
          : `The server of the bundle was started and has ${tools} ${tools === 1 ? 'tool' : 'tools'}.\n`
      const size = `${files.size + 1} files, ${(content.length / 1_000_000).toFixed(1)} MB`
      return plainText(`Wrote ${file}: ${size}\n${checked}SHA-256 ${sha256}`)
    },
  )
}

/** Parses the values of `--env`, each `NAME` or `NAME=value`. A name without a value has the value undefined. */
function parseVariables(values: readonly string[]): Record<string, string | undefined> {
  return Object.fromEntries(
    values.map((each) => {
      const [, name = '', , value] = /^([A-Za-z_]\w*)(=(.*))?$/s.exec(each) ?? []
      // Do not quote the value in the error, because it may contain a secret.
      if (name === '') throw usageError('--env: expected the name of a variable', 'Example: --env API_KEY')
      return [name, value]
    }),
  )
}

function refuseOptions(options: ExportOptions, format: string, names: readonly (keyof ExportOptions)[]): void {
  const name = names.find((each) => options[each] !== undefined && String(options[each]) !== '')
  if (name !== undefined) throw usageError(`--${name} has no meaning for ${format}`, `Leave out --${name}.`)
}

async function readManifest(file: string): Promise<Record<string, unknown> | undefined> {
  try {
    const manifest = await parseSettings(file, await readFile(file, 'utf8'), 'json')
    if (isObject(manifest)) return manifest
    throw usageError(`${file}: expected an object`, 'Remove the file, or pass another --output.')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function pickStrings(values: Record<string, unknown> | undefined, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values ?? {}).filter(
      (entry): entry is [string, string] => names.includes(entry[0]) && typeof entry[1] === 'string',
    ),
  )
}
