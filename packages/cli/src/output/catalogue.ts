/** Formats the lists of a server for people: tools as TypeScript signatures. */

import type { Prompt, Resource, ResourceTemplate, Tool } from '@mcpx/client'
import { isObject } from '@mcpx/protocol'
import type { Catalogue } from '../commands/list.ts'
import type { Output, Style } from './output.ts'
import { plainLine, plainText } from './plain-text.ts'
import { propertyName, typeOfSchema } from './schema-type.ts'

interface CatalogueOptions {
  /** Whether descriptions and types are shown in full. */
  readonly full: boolean
}

/** The longest description in a list, in characters. Longer descriptions are cut. */
const MAX_SUMMARY = 100

/** Returns the text that `mcpx list` prints. */
export function formatCatalogue(catalogue: Catalogue, output: Output, options: CatalogueOptions): string {
  const { server, revision, instructions, tools, resources, resourceTemplates, prompts } = catalogue
  const name = plainLine(`${server?.title ?? server?.name ?? 'A server without a name'} ${server?.version ?? ''}`)
  const heading = `${output.style('bold', name)} ${output.style('dim', revision)}`
  const parts = [
    options.full && instructions ? `${heading}\n${comment(instructions, output, options)}` : heading,
    section(
      'Tools',
      tools.map((tool) => formatTool(tool, output, options)),
      output,
      options,
    ),
    section(
      'Resources',
      resources.map((resource) => formatResource(resource, output, options)),
      output,
      options,
    ),
    section(
      'Resource templates',
      resourceTemplates.map((each) => formatResource(each, output, options)),
      output,
      options,
    ),
    section(
      'Prompts',
      prompts.map((prompt) => formatPrompt(prompt, output, options)),
      output,
      options,
    ),
  ]
  const shown = parts.filter((part) => part !== '')
  return shown.length > 1 ? shown.join('\n\n') : `${shown[0]}\n\nIt has no tools, resources or prompts.`
}

/**
 * Returns the signature of a tool in TypeScript: `add(a: number, b: number): { sum: number }`.
 *
 * @param style adds colours. Default: none
 */
export function signatureOf(
  { name, inputSchema, outputSchema }: Tool,
  style: (style: Style, text: string) => string = (_, text) => text,
): string {
  const { properties = {}, required = [] } = inputSchema as {
    properties?: Record<string, unknown>
    required?: string[]
  }
  const typeOf = (schema: unknown, root: unknown) => style('cyan', plainLine(typeOfSchema(schema, { root })))
  const names = Object.keys(properties)
  // Required arguments come first, as in TypeScript.
  names.sort((a, b) => Number(required.includes(b)) - Number(required.includes(a)))
  const parameters = names.map((each) => {
    const mark = required.includes(each) ? '' : '?'
    return `${propertyName(each)}${mark}: ${typeOf(properties[each], inputSchema)}`
  })
  const result = outputSchema === undefined ? '' : `: ${typeOf(outputSchema, outputSchema)}`
  return `${style('bold', plainLine(name))}(${parameters.join(', ')})${result}`
}

function section(title: string, items: readonly string[], output: Output, { full }: CatalogueOptions): string {
  if (items.length === 0) return ''
  return [output.style('bold', `${title} (${items.length})`), items.join(full ? '\n\n' : '\n')].join('\n')
}

function formatTool(tool: Tool, output: Output, options: CatalogueOptions): string {
  const signature = signatureOf(tool, (style, text) => output.style(style, text))
  const summary = withComment(signature, tool.description ?? tool.title, output, options)
  return options.full ? [summary, ...typesOfTool(tool, output)].join('\n') : summary
}

/** Returns the types of the arguments and the result, with the descriptions of their members. */
function typesOfTool({ inputSchema, outputSchema }: Tool, output: Output): string[] {
  const schemas = Object.entries({ input: inputSchema, output: outputSchema })
  return schemas.flatMap(([name, root]) => {
    if (root === undefined || !isObject(root.properties) || Object.keys(root.properties).length === 0) return []
    const type = plainText(typeOfSchema(root, { root, multiline: true }))
    return [`${name}: ${type}`.replace(/^/gm, '    ')].map((text) => output.style('cyan', text))
  })
}

function formatResource(resource: Resource | ResourceTemplate, output: Output, options: CatalogueOptions): string {
  const { name, title, description, mimeType } = resource
  const uri = 'uri' in resource ? resource.uri : (resource as ResourceTemplate).uriTemplate
  const type = mimeType === undefined ? '' : ` ${output.style('dim', plainLine(mimeType))}`
  return withComment(`${plainLine(String(uri))}${type}`, description ?? title ?? name, output, options)
}

function formatPrompt(
  { name, title, description, arguments: parameters = [] }: Prompt,
  output: Output,
  options: CatalogueOptions,
): string {
  const list = parameters.map((each) => `${propertyName(each.name)}${each.required === true ? '' : '?'}`)
  return withComment(
    `${output.style('bold', plainLine(name))}(${list.join(', ')})`,
    description ?? title,
    output,
    options,
  )
}

function withComment(line: string, text: string | undefined, output: Output, options: CatalogueOptions): string {
  if (text === undefined || text.trim() === '') return `  ${line}`
  return `  ${line}\n${comment(text, output, options)}`
}

function comment(text: string, output: Output, { full }: CatalogueOptions): string {
  const lines = full ? plainText(text.trim()).split(/\r?\n/) : [summaryOf(text)]
  return lines.map((line) => (line === '' ? '' : output.style('dim', `    ${line}`))).join('\n')
}

function summaryOf(text: string): string {
  const line = plainLine(text.split(/\n\s*\n/)[0] ?? '')
  return line.length > MAX_SUMMARY ? `${line.slice(0, MAX_SUMMARY - 1)}…` : line
}

/** The printed members of a server in the settings of a host. */
export interface ShownServer {
  readonly name: string
  readonly host: string | undefined
  readonly file: string
  readonly enabled: boolean
  readonly command?: unknown
  readonly url?: unknown
}

/** Returns the text that `mcpx list` prints if no server is named: the servers in the settings of hosts. */
export function formatServers(servers: readonly ShownServer[], output: Output): string {
  if (servers.length === 0) {
    return 'The settings of hosts on this machine contain no servers.\nList one of your own: mcpx list https://example.com/mcp'
  }
  const files = [...new Set(servers.map(({ file }) => file))]
  return files
    .map((file) => {
      const inFile = servers.filter((server) => server.file === file)
      const lines = inFile.map(({ name, enabled, command, url }) => {
        const state = enabled ? '' : output.style('yellow', ' (disabled)')
        return `  ${output.style('cyan', plainLine(name))}${state}  ${output.style('dim', plainLine(String(url ?? command ?? '')))}`
      })
      return [`${output.style('bold', inFile[0]?.host ?? '')} ${output.style('dim', file)}`, ...lines].join('\n')
    })
    .join('\n\n')
}
