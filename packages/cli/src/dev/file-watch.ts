/** Watches the files that a server is made of. */

import { existsSync, type FSWatcher, statSync, watch } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { clearTimeout, setTimeout } from 'node:timers'

/**
 * A change is reported when no file has changed for this time, in ms, because editors write a file in several steps.
 */
const QUIET_TIME = 100
/**
 * The interval of checks whether a removed folder exists again, in ms. Builds remove their folder and create it again.
 */
const RETURN_INTERVAL = 250

/**
 * Watches files, and folders with all their subfolders. For a file it watches the folder, because editors replace a
 * file by a new file of the same name.
 */
export class FileWatch {
  readonly #onChange: (path: string) => void
  readonly #onWarning: (warning: Error) => void
  readonly #files = new Set<string>()
  readonly #watchers = new Map<string, FSWatcher>()
  /** The timers of folders that do not exist. */
  readonly #missing = new Map<string, NodeJS.Timeout>()
  #timer: NodeJS.Timeout | undefined

  /** @param onChange called once after several changes in a row, with one of the changed paths */
  constructor(onChange: (path: string) => void, onWarning: (warning: Error) => void) {
    this.#onChange = onChange
    this.#onWarning = onWarning
  }

  /** Watches a file that a server has loaded. The file may have been deleted. */
  addFile(path: string): void {
    this.#files.add(path)
    this.#watch(dirname(path), false, (changed) => changed === undefined || this.#files.has(changed))
  }

  /**
   * Watches a file or folder that the user named.
   *
   * @throws the error of the file system if it does not exist
   */
  addPath(path: string): void {
    if (!statSync(path).isDirectory()) this.addFile(path)
    else this.#watch(path, true, (changed = '') => !`${sep}${changed}`.includes(`${sep}node_modules${sep}`))
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
    for (const timer of this.#missing.values()) clearTimeout(timer)
    this.#missing.clear()
  }

  #watch(folder: string, recursive: boolean, isWatched: (path: string | undefined) => boolean): void {
    const key = `${folder}${recursive ? sep : ''}`
    if (this.#watchers.has(key) || this.#missing.has(key)) return
    const awaitReturn = () => {
      const timer = setTimeout(() => {
        this.#missing.delete(key)
        this.#watch(folder, recursive, isWatched)
        // Files may have been written before the watcher existed.
        if (this.#watchers.has(key)) this.#noteChange(folder)
      }, RETURN_INTERVAL)
      this.#missing.set(key, timer)
    }
    try {
      const watcher = watch(folder, { recursive }, (event, name) => {
        const path = name === null ? undefined : join(folder, name)
        if (isWatched(path)) this.#noteChange(path ?? folder)
        // A watcher belongs to the removed or renamed folder. A new folder of the same name needs a new watcher.
        if ((event === 'rename' && name === basename(folder)) || !existsSync(folder)) stop()
      })
      const stop = () => {
        if (this.#watchers.get(key) !== watcher) return
        this.#watchers.delete(key)
        watcher.close()
        awaitReturn()
      }
      watcher.on('error', (error) => {
        stop()
        // The folder was removed.
        if ((error as NodeJS.ErrnoException).code !== 'EPERM') this.#onWarning(error)
      })
      this.#watchers.set(key, watcher)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') awaitReturn()
      else this.#onWarning(error as Error)
    }
  }

  #noteChange(path: string): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#onChange(resolve(path)), QUIET_TIME)
  }
}
