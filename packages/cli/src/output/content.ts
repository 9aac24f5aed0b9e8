/** Prints the content of results: text, images, audio and resources. */

import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ContentBlock } from '@mcpx/client'
import type { CommandContext } from '../commands/index.ts'
import { CliError } from './errors.ts'
import { imageSequence } from './images.ts'
import { plainJson, plainLine, plainText } from './plain-text.ts'
import type { Terminal } from './terminal.ts'

/** A part of a result: text, or bytes of a type. */
export type Part =
  | { readonly kind: 'text'; readonly text: string; readonly isJson?: boolean }
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly mimeType: string }
  | { readonly kind: 'link'; readonly uri: string; readonly name: string }

/** The contents of a resource, as text or in Base64. */
export interface Contents {
  readonly uri: string
  readonly mimeType?: string | undefined
  readonly text?: string | undefined
  readonly blob?: string | undefined
}

/**
 * Returns the parts of content blocks. If a text block repeats the structured content as JSON, returns the structured
 * content instead.
 */
export function partsOf(blocks: readonly ContentBlock[], structured?: unknown): Part[] {
  const parts = blocks.filter((block) => !(block.type === 'text' && repeats(block.text, structured))).map(partOf)
  return structured === undefined ? parts : [...parts, { kind: 'text', text: plainJson(structured), isJson: true }]
}

function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case 'text':
      return { kind: 'text', text: block.text }
    case 'image':
    case 'audio':
      return { kind: 'bytes', bytes: Buffer.from(block.data, 'base64'), mimeType: block.mimeType }
    case 'resource_link':
      return { kind: 'link', uri: block.uri, name: block.title ?? block.name }
    case 'resource':
      return partOfContents(block.resource)
    default:
      return { kind: 'text', text: plainJson(block), isJson: true }
  }
}

/** Returns the part of the contents of a resource. */
export function partOfContents({ text, blob, mimeType = 'application/octet-stream' }: Contents): Part {
  if (text !== undefined) return { kind: 'text', text }
  return { kind: 'bytes', bytes: Buffer.from(blob ?? '', 'base64'), mimeType }
}

function repeats(text: string, structured: unknown): boolean {
  if (structured === undefined) return false
  try {
    return isDeepStrictEqual(JSON.parse(text), structured)
  } catch {
    return false
  }
}

/**
 * Prints a result. With `--json`, prints the value. With `--output`, writes the exact content to a file. Otherwise
 * prints the content for people, without escape sequences: shows images if the terminal supports it, and writes other
 * bytes to a temporary file, whose path is printed.
 */
export async function printParts(
  context: CommandContext,
  value: unknown,
  parts: readonly Part[],
  file?: string,
): Promise<void> {
  const { output, terminal } = context
  if (file !== undefined) {
    await writeParts(context, value, parts, file)
    return
  }
  if (output.json) return output.result(value, () => '')
  const texts: string[] = []
  for (const part of parts) texts.push(await formatPart(part, terminal))
  // For content without parts, print nothing, not even an empty line.
  if (texts.length > 0)
    output.result(value, () => texts.map((text) => (text.endsWith('\n') ? text : `${text}\n`)).join(''))
}

/** Returns the text of all parts for people. Each part begins on a new line. */
export async function formatParts(parts: readonly Part[], terminal: Terminal): Promise<string> {
  const texts: string[] = []
  for (const part of parts) texts.push(await formatPart(part, terminal))
  return texts.map((text) => (text === '' || text.endsWith('\n') ? text : `${text}\n`)).join('')
}

async function formatPart(part: Part, terminal: Terminal): Promise<string> {
  if (part.kind === 'text') return plainText(part.text)
  if (part.kind === 'link') return `${plainLine(part.name)}: ${plainLine(part.uri)}`
  const { bytes, mimeType } = part
  const sequence = mimeType.startsWith('image/') ? imageSequence(bytes, mimeType, terminal) : undefined
  if (sequence !== undefined) return sequence
  const path = join(await mkdtemp(join(tmpdir(), 'mcpx-')), `content${extensionOf(mimeType)}`)
  await writeFile(path, bytes, { mode: 0o600 })
  return `${plainLine(mimeType)}, ${bytes.length} bytes: ${path}`
}

/** Writes the exact content to a file, or to standard output with the name `-`. */
async function writeParts(
  { output, terminal }: CommandContext,
  value: unknown,
  parts: readonly Part[],
  file: string,
): Promise<void> {
  const content = output.json ? `${plainJson(value)}\n` : exactContent(parts)
  if (file === '-') {
    terminal.stdout.write(content)
    return
  }
  const path = resolve(terminal.cwd, file)
  try {
    await writeFile(path, content)
  } catch (cause) {
    throw new CliError(
      'usage',
      `--output: ${path} cannot be written: ${(cause as NodeJS.ErrnoException).code}`,
      undefined,
      cause,
    )
  }
  output.note(`${path}: ${Buffer.byteLength(content)} bytes`)
}

function exactContent(parts: readonly Part[]): Buffer | string {
  const [first, ...others] = parts
  if (first?.kind === 'bytes' && others.length === 0) return first.bytes
  if (parts.some(({ kind }) => kind === 'bytes')) {
    const kinds = parts.map((part) => (part.kind === 'bytes' ? part.mimeType : part.kind))
    throw new CliError(
      'usage',
      `--output: the result has several parts: ${kinds.join(', ')}`,
      'Add --json to write all of them.',
    )
  }
  return parts.map((part) => (part.kind === 'text' ? part.text : part.kind === 'link' ? part.uri : '')).join('\n')
}

/** Returns the file name extension for a MIME type from a server. */
function extensionOf(mimeType: string): string {
  const [, subtype = ''] = /^\w+\/(?:x-)?([a-z0-9]+)/i.exec(mimeType) ?? []
  const other: Record<string, string> = {
    jpeg: '.jpg',
    svg: '.svg',
    mpeg: '.mp3',
    octet: '.bin',
    plain: '.txt',
    '': '.bin',
  }
  return other[subtype] ?? `.${subtype.toLowerCase()}`
}
