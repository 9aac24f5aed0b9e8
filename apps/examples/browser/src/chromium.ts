/** Starts a headless Chromium of this machine, with a profile that is thrown away. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']

/** `ended` rejects when the browser ends, or after a minute. */
export async function openPage(url: string): Promise<{ ended: Promise<never>; close(): Promise<void> }> {
  const profile = mkdtempSync(join(tmpdir(), 'browser-'))
  // The sandbox needs rights that root in a container does not have; this page is our own.
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', `--user-data-dir=${profile}`]
  const browser = spawn(find(), [...flags, url], { stdio: 'ignore', detached: true })
  const gone = once(browser, 'exit')
  const ended = Promise.race([gone, new Promise((resolve) => setTimeout(resolve, 60_000).unref())]).then(() =>
    Promise.reject(new Error('The page was not done when the browser ended, or within a minute.')),
  )
  ended.catch(() => {})
  return {
    ended,
    async close() {
      process.kill(-(browser.pid as number), 'SIGKILL')
      await gone
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

function find(): string {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const path = folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram)
  if (path === undefined)
    throw new Error(`None of ${names.join(', ')} is on PATH: install Chromium, or open the page yourself.`)
  return path
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
