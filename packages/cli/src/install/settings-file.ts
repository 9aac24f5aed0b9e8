/** Changes one server in a settings file. Everything else stays as it is, with comments and order. */

import { constants, copyFile, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isObject } from '@mcpx/protocol'
import { usageError } from '../output/errors.ts'
import type { Host } from '../server/hosts.ts'
import { parseSettings } from '../server/settings.ts'

/** A planned change of a settings file. */
export interface SettingsChange {
  readonly file: string
  /** The text of the file. Undefined if it does not exist. */
  readonly before: string | undefined
  /** The text with the server. */
  readonly after: string
  /** The settings of the server that is replaced. Undefined if there is no server with this name. */
  readonly replaced: unknown
}

/** Reads a settings file, and returns it with the server. Nothing is written. */
export async function planChange(
  file: string,
  format: Host['format'],
  path: readonly string[],
  entry: object,
): Promise<SettingsChange> {
  const before = await readText(file)
  const settings = await parseSettings(file, before ?? '', format)
  if (!isObject(settings)) throw usageError(`${file}: expected an object`, 'Mend the file, or name another one.')
  const replaced = path.reduce<unknown>(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    settings,
  )
  const after = await writers[format](before ?? '', path, entry, replaced !== undefined)
  return { file, before, after, replaced }
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw usageError(`${file} cannot be read: ${code}`)
  }
}

type Writer = (text: string, path: readonly string[], entry: object, isReplaced: boolean) => Promise<string>

const writers: Readonly<Record<Host['format'], Writer>> = {
  async json(text, path, entry) {
    const { applyEdits, modify } = await import('jsonc-parser')
    const isTabbed = /^\t/m.test(text)
    const formattingOptions = { insertSpaces: !isTabbed, tabSize: 2, eol: text.includes('\r\n') ? '\r\n' : '\n' }
    const source = text.trim() === '' ? '{}' : text
    const changed = applyEdits(source, modify(source, [...path], entry, { formattingOptions }))
    return changed.endsWith('\n') ? changed : `${changed}\n`
  },
  async yaml(text, path, entry) {
    const { parseDocument, stringify } = await import('yaml')
    const document = parseDocument(text)
    if (document.contents === null) return `${text}${stringify(nested(path, entry))}`
    document.setIn([...path], entry)
    return String(document)
  },
  async toml(text, path, entry, isReplaced) {
    const { stringify } = await import('smol-toml')
    const kept = isReplaced ? withoutTable(text, path) : text
    const table = `${stringify(nested(path, entry)).trim()}\n`
    return kept.trim() === '' ? table : `${kept.trimEnd()}\n\n${table}`
  },
}

function nested(path: readonly string[], value: unknown): Record<string, unknown> {
  return path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Record<string, unknown>
}

/**
 * Removes a table of TOML and the tables below it. Removes lines of text, because the library for TOML does not keep
 * comments.
 */
function withoutTable(text: string, path: readonly string[]): string {
  const name = path.at(-1) as string
  const parent = path.slice(0, -1).join('.')
  const header = new RegExp(
    `^\\s*\\[\\s*${escaped(parent)}\\s*\\.\\s*(?:${escaped(name)}|"${escaped(name)}"|'${escaped(name)}')\\s*[.\\]]`,
  )
  let isRemoved = false
  let count = 0
  const lines = text.split('\n').filter((line) => {
    if (/^\s*\[/.test(line)) isRemoved = header.test(line)
    if (isRemoved) count += 1
    return !isRemoved
  })
  if (count > 0) return lines.join('\n')
  const place = `${parent}.${name}`
  throw usageError(`${place}: expected a table [${place}] to replace`, 'Remove the server from the file by hand.')
}

function escaped(text: string): string {
  return text.replace(/[^\w]/g, '\\$&')
}

/** Writes a change. Returns the path of the backup, if the file existed before. */
export async function writeChange({ file, before, after }: SettingsChange): Promise<string | undefined> {
  await mkdir(dirname(file), { recursive: true })
  const mode = before === undefined ? 0o600 : (await stat(file)).mode
  const backup = before === undefined ? undefined : await backUp(file)
  const partial = `${file}.${process.pid}.tmp`
  await writeFile(partial, after, { mode })
  await rename(partial, file)
  return backup
}

/** Copies the file to a new file in the same folder. Older copies are kept. */
async function backUp(file: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const copy = number === 1 ? `${file}.backup` : `${file}.backup-${number}`
    try {
      await copyFile(file, copy, constants.COPYFILE_EXCL)
      return copy
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || number >= 100) throw error
    }
  }
}
