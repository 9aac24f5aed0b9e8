/** Views in files, for Node. */

import { statSync, watch as watchFolder } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { kindOf, quoted, refuseUnknownOption } from '@mcpx/protocol'
import type { ViewSource } from './ui.ts'
import { checkSize, ViewError } from './view.ts'

/** The options of `file`. */
export interface FileOptions {
  /**
   * Whether to watch the file. If true, it is read for each request, and clients are notified when it changes. If
   * false, it is read once. Default: true, unless the environment variable `NODE_ENV` is `production`.
   */
  readonly watch?: boolean | undefined
}

/** How long to wait for further changes before clients are notified, in ms. */
const QUIET = 50

/**
 * Reads the HTML of a view from a file, at most 10 MiB.
 *
 * ```ts
 * const view = ui('weather', { html: file(new URL('./weather.html', import.meta.url)) })
 * ```
 *
 * @param place a path, which is relative to the working directory, or a `file:` URL
 * @throws ViewError if the file does not exist
 * @throws TypeError for an option that does not exist
 */
export function file(place: string | URL, options: FileOptions = {}): ViewSource {
  refuseUnknownOption('file', options, ['watch'] satisfies (keyof FileOptions)[])
  if (typeof place !== 'string' && !(place instanceof URL)) {
    throw new TypeError(`file: expected the path of a file or a URL, got ${kindOf(place)}`)
  }
  const path = place instanceof URL ? fileURLToPath(place) : resolve(place)
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) throw missing(path)
  const { watch = process.env.NODE_ENV !== 'production' } = options
  if (watch) return { read: () => read(path), watch: (...callbacks) => watchFile(path, ...callbacks) }
  let html: Promise<string> | undefined
  return {
    async read() {
      html ??= read(path)
      try {
        return await html
      } catch (error) {
        html = undefined
        throw error
      }
    },
  }
}

async function read(path: string): Promise<string> {
  try {
    checkSize((await stat(path)).size, quoted(path))
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw (cause as { code?: string }).code === 'ENOENT' ? missing(path) : cause
  }
}

/** Watches the folder of a file, because editors and build tools replace files. */
function watchFile(path: string, onChange: () => void, onWarning: (warning: Error) => void): () => void {
  const fail = (cause: unknown) => {
    const remedy = 'restart the server after changes, or pass `watch: false`'
    onWarning(new Error(`file: the file ${quoted(path)} cannot be watched; ${remedy}`, { cause }))
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    const watcher = watchFolder(dirname(path), { persistent: false }, (_, name) => {
      if (name !== null && name !== basename(path)) return
      clearTimeout(timer)
      timer = setTimeout(onChange, QUIET)
      timer.unref()
    })
    watcher.on('error', fail)
    return () => {
      clearTimeout(timer)
      watcher.close()
    }
  } catch (cause) {
    fail(cause)
    return () => {}
  }
}

function missing(path: string): ViewError {
  const remedy = 'a path is relative to the working directory, so pass new URL("./view.html", import.meta.url)'
  return new ViewError('not-found', `file: there is no file ${quoted(path)}; ${remedy}`)
}
