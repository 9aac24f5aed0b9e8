/** Records the files that a server process loads, and reports them to the process that watches files. */

import module, { createRequire } from 'node:module'
import process from 'node:process'
import { setInterval } from 'node:timers'
import { fileURLToPath } from 'node:url'

/** The environment variable that makes `mcpx run` report the files that it loads. */
export const REPORT_VARIABLE = 'MCPX_REPORT_FILES'

/** The beginning and the end of a report in standard error. NUL does not occur in other text. */
const START = '\0mcpx-file:'
const END = '\0'
/** The interval of checks for files that a compiler has loaded, in ms. Node calls no hook for these files. */
const INTERVAL = 500
/** How long a report can be, in characters. */
const MAX_REPORT = 8_192

/** The files that were loaded since `reportLoadedFiles`, except files of packages. */
export const loadedFiles = new Set<string>()

/** Writes the path of each file that is loaded from now on to standard error, for `FileReports`. */
export function reportLoadedFiles(): void {
  // Programs that the server starts must not report their files.
  delete process.env[REPORT_VARIABLE]
  const report = (path: string): void => {
    if (loadedFiles.has(path) || /[\\/]node_modules[\\/]/.test(path)) return
    loadedFiles.add(path)
    process.stderr.write(`${START}${path}${END}`)
  }
  const reportUrl = (url: string): void => {
    if (url.startsWith('file:')) report(fileURLToPath(url))
  }
  // Node 22.15 and newer. Older versions call hooks in a separate thread.
  if (module.registerHooks === undefined) module.register(`data:text/javascript,${encodeURIComponent(THREAD_HOOK)}`)
  else {
    module.registerHooks({
      resolve(specifier, context, next) {
        try {
          const found = next(specifier, context)
          reportUrl(found.url)
          return found
        } catch (error) {
          // The file may not exist yet.
          if (/^\.{0,2}\//.test(specifier)) reportUrl(new URL(specifier, context.parentURL).href)
          throw error
        }
      },
    })
  }
  const { cache } = createRequire(import.meta.url)
  const reportRequired = (): void => {
    for (const path of Object.keys(cache)) report(path)
  }
  setInterval(reportRequired, INTERVAL).unref()
  process.once('exit', reportRequired)
}

const THREAD_HOOK = `
import { writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context)
  if (found.url.startsWith('file:') && !/[\\\\/]node_modules[\\\\/]/.test(found.url))
    writeSync(2, ${JSON.stringify(START)} + fileURLToPath(found.url) + ${JSON.stringify(END)})
  return found
}`

/** Separates the reports of `reportLoadedFiles` from the other text that a process writes to standard error. */
export class FileReports {
  #rest = ''

  /** Reads the next part of standard error. Returns the files of its reports, and all other text. */
  read(part: string): { text: string; files: string[] } {
    const files: string[] = []
    const whole = `${this.#rest}${part}`.replaceAll(REPORT, (_, path: string) => {
      files.push(path)
      return ''
    })
    const index = whole.lastIndexOf(END)
    const isCut = index >= 0 && whole.length - index < MAX_REPORT && isBeginning(whole.slice(index))
    this.#rest = isCut ? whole.slice(index) : ''
    return { text: isCut ? whole.slice(0, index) : whole, files }
  }
}

const REPORT = /\0mcpx-file:([^\0]*)\0/g

function isBeginning(text: string): boolean {
  return START.startsWith(text) || text.startsWith(START)
}
