/** Starts the inspector in this process, and visits its page in headless Chromium. */

import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { type ClientOptions, connect } from '@mcpx/client'
import type { Connector, Responder } from '@mcpx/protocol'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { type InputOptions, type OutputOptions, rolldown } from 'rolldown'
import { expect, onTestFinished } from 'vitest'
import type { ServerSource } from './api.ts'
import { type Inspector, startInspector } from './serve.ts'

const path = findChromium()
/** Whether Chromium is installed. In CI it must be. */
export const hasChromium = process.env.CI !== undefined || path !== undefined

function findChromium(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(existsSync)
}

/** Starts Chromium. */
export function launchBrowser(): Promise<Browser> {
  // The sandbox of processes does not work for root in a container.
  return chromium.launch({ executablePath: path ?? 'chromium', args: ['--no-sandbox'] })
}

/** Bundles the page as the build does. Returns the folder, and a function that deletes it. */
export async function buildPage(): Promise<{ folder: URL; remove: () => Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'mcpx-page-'))
  const url = new URL('../../rolldown.page.mjs', import.meta.url).href
  const config = ((await import(url)) as { default: InputOptions & { output: OutputOptions } }).default
  const { output, ...input } = config
  const bundle = await rolldown(input)
  await bundle.write({ ...output, dir })
  await bundle.close()
  return { folder: pathToFileURL(`${dir}/`), remove: () => rm(dir, { recursive: true, force: true }) }
}

/** Starts an inspector that ends with the test. */
export async function inspect(
  connector: Connector | Responder,
  options: { folder?: URL; era?: ClientOptions['era']; source?: ServerSource } = {},
): Promise<Inspector> {
  const { folder, era, source = { kind: 'file', word: 'shop.ts' } } = options
  const inspector = await startInspector({
    label: 'shop.ts',
    source,
    connector,
    connect: (target, clientOptions) => connect(target, { era, ...clientOptions }),
    folder,
  })
  onTestFinished(() => inspector.close())
  return inspector
}

/** Opens an address. The test fails if the page throws, or if its policy had to block something, except for expected errors. */
export async function visit(
  browser: Browser,
  url: string,
  { expected, ...options }: BrowserContextOptions & { readonly expected?: RegExp } = {},
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  // Longer than any step takes, and shorter than the test, so that an error names the step.
  context.setDefaultTimeout(15_000)
  const tab = await context.newPage()
  const problems: string[] = []
  tab.on('pageerror', (error) => problems.push(String(error.stack)))
  tab.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  tab.on('console', (message) => {
    if (message.type() === 'error' && expected?.test(message.text()) !== true) problems.push(message.text())
  })
  onTestFinished(async () => {
    await context.close()
    expect(problems).toEqual([])
  })
  await tab.goto(url)
  return tab
}
