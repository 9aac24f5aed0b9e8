/** Opens a URL in headless Chromium with a temporary profile. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { end, start } from './programs.ts'

/** The timeout of a page, in milliseconds. */
const TIMEOUT = 90_000

const flags = [
  '--headless',
  // The sandbox does not work in containers and for root, and the page is trusted.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
]

/** Keeps the page open until `done` resolves; rejects if Chromium exits before, or after 90 seconds. */
export async function visit<Result>(chromium: string, url: string, done: Promise<Result>): Promise<Result> {
  const profile = mkdtempSync(join(tmpdir(), 'chromium-'))
  const browser = start(chromium, [...flags, `--user-data-dir=${profile}`, url])
  const ended = browser.ended().then(() => Promise.reject(new Error('Chromium exited before its page was done')))
  ended.catch(() => {})
  try {
    return await Promise.race([done, ended, rejectAfterTimeout()])
  } finally {
    end(browser)
    await browser.ended().catch(() => {})
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

function rejectAfterTimeout(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`the page timed out after ${TIMEOUT / 1000} s`)), TIMEOUT).unref()
  })
}
