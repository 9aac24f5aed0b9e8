/** Watches the files that a server is made of. */

import { type FSWatcher, statSync, watch } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { clearTimeout, setTimeout } from 'node:timers'

/** How long no file may change before a change is reported, in ms: editors write a file in several steps. */
const QUIET_TIME = 100

/**
 * Watches files, and folders with everything below them. It watches the folders of files, because editors replace a file by
 * another one of the same name.
 */
export class FileWatch {
  readonly #onChange: (path: string) => void
  readonly #onWarning: (warning: Error) => void
  readonly #files = new Set<string>()
  readonly #watchers = new Map<string, FSWatcher>()
  #timer: NodeJS.Timeout | undefined

  /** @param onChange called with one of the changed paths after the last change of several */
  constructor(onChange: (path: string) => void, onWarning: (warning: Error) => void) {
    this.#onChange = onChange
    this.#onWarning = onWarning
  }

  /** Watches a file that a server has loaded, which may not exist any more. */
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
  }

  #watch(folder: string, recursive: boolean, isWatched: (path: string | undefined) => boolean): void {
    const key = `${folder}${recursive ? sep : ''}`
    if (this.#watchers.has(key)) return
    try {
      const watcher = watch(folder, { recursive }, (_, name) => {
        const path = name === null ? undefined : join(folder, name)
        if (isWatched(path)) this.#noteChange(path ?? folder)
      })
      watcher.on('error', (error) => {
        this.#watchers.delete(key)
        watcher.close()
        // The folder was removed.
        if ((error as NodeJS.ErrnoException).code !== 'EPERM') this.#onWarning(error)
      })
      this.#watchers.set(key, watcher)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'ENOTDIR') this.#onWarning(error as Error)
    }
  }

  #noteChange(path: string): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#onChange(resolve(path)), QUIET_TIME)
  }
}
