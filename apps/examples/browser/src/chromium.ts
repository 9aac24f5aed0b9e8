/** Starts an installed Chromium in headless mode with a temporary profile. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']

/** Opens the URL. `ended` rejects when the browser exits or after one minute. */
export async function openPage(url: string): Promise<{ ended: Promise<never>; close(): Promise<void> }> {
  const profile = mkdtempSync(join(tmpdir(), 'browser-'))
  // The sandbox does not work for root in a container, and the page is trusted.
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', `--user-data-dir=${profile}`]
  const browser = spawn(findBrowser(), [...flags, url], { stdio: 'ignore', detached: true })
  const exited = once(browser, 'exit')
  const ended = Promise.race([exited, new Promise((resolve) => setTimeout(resolve, 60_000).unref())]).then(() =>
    Promise.reject(new Error('The page did not finish before the browser exited, or within one minute.')),
  )
  ended.catch(() => {})
  return {
    ended,
    async close() {
      process.kill(-(browser.pid as number), 'SIGKILL')
      await exited
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

function findBrowser(): string {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const path = folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable)
  if (path === undefined)
    throw new Error(`PATH: expected one of ${names.join(', ')}. Install Chromium, or open the page by hand.`)
  return path
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
