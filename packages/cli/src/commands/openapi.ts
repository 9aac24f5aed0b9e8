/** `mcpx openapi`: writes a server whose tools call operations of an HTTP API. */

import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { loadDocument } from '../openapi/document.ts'
import { listOperations, type Operation } from '../openapi/operations.ts'
import { chooseOperations, writeServerFile } from '../openapi/server-file.ts'
import { CliError, usageError } from '../output/errors.ts'
import { plainLine } from '../output/plain-text.ts'
import type { Terminal } from '../output/terminal.ts'
import { addJsonOption, collect, readHeaders } from '../server/options.ts'
import type { CommandContext } from './index.ts'

interface OpenApiOptions {
  readonly operation: readonly string[]
  readonly tag: readonly string[]
  readonly header: readonly string[]
  readonly all?: boolean
  readonly output?: string
  readonly force?: boolean
  readonly baseUrl?: string
  readonly bearer?: string
}

const EXAMPLE = `
Examples:
  $ mcpx openapi petstore.yaml
  $ mcpx openapi petstore.yaml --operation listPets --operation showPetById --output pets.ts
  $ mcpx list pets.ts`

/** With more tools, models choose worse. */
const MANY_TOOLS = 40

export function define(command: Command, context: CommandContext): void {
  addJsonOption(command)
    .argument('<spec>', 'an OpenAPI 3 description: a file or a URL, JSON or YAML, or - for standard input')
    .option('--operation <id>', 'write a tool for this operation; may be repeated', collect, [])
    .option('--tag <tag>', 'write tools for the operations with this tag; may be repeated', collect, [])
    .option('--all', 'write tools for all operations')
    .option('--output <file>', 'write the TypeScript file here. Default: standard output')
    .option('--force', 'replace the file')
    .option('--base-url <url>', 'the base URL of the API. Default: the URL in the OpenAPI description')
    .option(
      '--header <name:value>',
      'send this header when the description is loaded from a URL; may be repeated',
      collect,
      [],
    )
    .option(
      '--bearer <name>',
      'the environment variable with the bearer token of the API, if the description defines no credentials',
    )
    .addHelpText('after', EXAMPLE)
    .action((spec: string, options: OpenApiOptions) => run(spec, options, context))
}

async function run(spec: string, options: OpenApiOptions, context: CommandContext): Promise<void> {
  const { terminal, output } = context
  const { baseUrl, bearer, force } = options
  const target = options.output === undefined ? undefined : resolve(terminal.cwd, options.output)
  if (baseUrl !== undefined && !/^https?:\/\/[^/]/.test(baseUrl))
    throw usageError(`--base-url: expected an http or https URL, got ${baseUrl}`)
  if (bearer !== undefined && !/^[A-Za-z_]\w*$/.test(bearer)) {
    throw usageError(`--bearer: expected the name of an environment variable, got ${JSON.stringify(bearer)}`)
  }
  if (target !== undefined && force !== true && existsSync(target))
    throw usageError(`${target} exists`, 'Choose another file, or add --force.')
  const document = await loadDocument(spec, terminal, readHeaders(options.header))
  const operations = listOperations(document)
  if (operations.length === 0) throw usageError(`${spec}: expected operations in "paths", got none`)
  const chosen = await choose(operations, options, terminal)
  if (chosen === undefined) {
    const listed = operations.map(({ name, method, path, summary, tags, deprecated }) => ({
      name,
      method,
      path,
      summary,
      tags,
      deprecated,
    }))
    output.result({ operations: listed }, () => formatOperations(operations))
    return output.note('Choose operations with --operation <id>, --tag <tag> or --all.')
  }
  if (chosen.length === 0) throw new CliError('interrupted', 'No operation was chosen')
  const required = chooseOperations(operations, options.operation).map(({ name }) => name)
  const { code, tools, variables, warnings } = writeServerFile(document, chosen, { baseUrl, bearer, required })
  if (tools.length === 0) throw usageError('No operation is supported', warnings.slice(0, 10).join('\n'))
  if (target !== undefined) await writeFile(target, code)
  for (const warning of warnings) output.note(warning)
  if (tools.length > MANY_TOOLS)
    output.note(`${tools.length} tools are many: models choose better if there are fewer tools.`)
  output.result({ tools, variables, ...(target === undefined ? { code } : { file: target }) }, () => {
    if (target === undefined) return code
    const count = tools.length === 1 ? '1 tool' : `${tools.length} tools`
    return `Wrote ${count} to ${options.output}. The file reads the environment: ${variables.join(', ')}.\nTry it: mcpx list ${options.output}`
  })
}

/**
 * Returns the chosen operations. If the command line chooses none, asks the user in a terminal, and returns undefined
 * without a terminal.
 */
async function choose(
  operations: readonly Operation[],
  { operation, tag, all }: OpenApiOptions,
  terminal: Terminal,
): Promise<readonly Operation[] | undefined> {
  if (all === true) return operations
  const unknown = tag.find((name) => !operations.some(({ tags }) => tags.includes(name)))
  if (unknown !== undefined) {
    const tags = [...new Set(operations.flatMap((each) => each.tags))].slice(0, 20).map(plainLine)
    throw usageError(`--tag: expected one of ${tags.join(', ') || 'no tags'}, got ${unknown}`)
  }
  const named = chooseOperations(operations, operation)
  const tagged = operations.filter(({ tags }) => tags.some((each) => tag.includes(each)))
  const chosen = [...new Set([...named, ...tagged])]
  if (chosen.length > 0) return chosen
  return terminal.isInteractive ? ask(operations, terminal) : undefined
}

async function ask(operations: readonly Operation[], terminal: Terminal): Promise<readonly Operation[]> {
  const { autocompleteMultiselect, isCancel } = await import('@clack/prompts')
  const answer = await autocompleteMultiselect({
    message: 'Which operations become tools? Type to search, and press Tab to choose.',
    options: operations.map((operation) => ({
      value: operation,
      label: operation.name,
      hint: plainLine(labelOf(operation)),
    })),
    maxItems: 12,
    input: terminal.stdin,
    output: terminal.stderr,
    signal: terminal.signal,
  })
  return isCancel(answer) ? [] : answer
}

function labelOf({ method, path, summary }: Operation): string {
  return `${method.toUpperCase()} ${path} ${summary}`.slice(0, 100)
}

function formatOperations(operations: readonly Operation[]): string {
  return operations
    .map(({ deprecated, ...operation }) => {
      const label = labelOf({ deprecated, ...operation })
      return `${operation.name}\n  ${plainLine(deprecated ? `${label} (deprecated)` : label)}`
    })
    .join('\n')
}
