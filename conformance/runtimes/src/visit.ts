/** Opens an address in headless Chromium, with a profile that is thrown away. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { end, start } from './programs.ts'

/** How long a page may take, in ms. */
const LIMIT = 90_000

const flags = [
  '--headless',
  // Chromium's own sandbox needs rights that containers and root do not have; the page is ours.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
]

/** Keeps the page open until `done` resolves; rejects when Chromium ends before that, or after a minute and a half. */
export async function visit<Result>(chromium: string, url: string, done: Promise<Result>): Promise<Result> {
  const profile = mkdtempSync(join(tmpdir(), 'chromium-'))
  const browser = start(chromium, [...flags, `--user-data-dir=${profile}`, url])
  const ended = browser.ended().then(() => Promise.reject(new Error('Chromium ended before its page was done')))
  ended.catch(() => {})
  try {
    return await Promise.race([done, ended, late()])
  } finally {
    end(browser)
    await browser.ended().catch(() => {})
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

function late(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`the page was waited for ${LIMIT / 1000} s`)), LIMIT).unref()
  })
}
