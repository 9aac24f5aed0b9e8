/** Runs the suite in a page of headless Chromium, which comes from another origin than every server it calls. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { out } from './bundle.ts'
import type { Job, Report } from './job.ts'
import { end, start } from './programs.ts'

/** How long the page may take, in ms. */
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

/** Opens the page and waits for what it brings back. */
export async function runInChromium(path: string, jobs: readonly Job[]): Promise<Report[]> {
  const profile = mkdtempSync(join(tmpdir(), 'chromium-'))
  const { server, reports, url } = await servePage(jobs)
  const browser = start(path, [...flags, `--user-data-dir=${profile}`, url])
  const ended = browser.ended().then(() => Promise.reject(new Error('Chromium ended before its page was done')))
  ended.catch(() => {})
  try {
    return JSON.parse(await Promise.race([reports, ended, late()])) as Report[]
  } finally {
    end(browser)
    server.close()
    server.closeAllConnections()
    await browser.ended().catch(() => {})
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The page, its script, its jobs, and a place for its reports. */
async function servePage(jobs: readonly Job[]): Promise<{ server: Server; reports: Promise<string>; url: string }> {
  let bring: (text: string) => void = () => {}
  const reports = new Promise<string>((resolve) => {
    bring = resolve
  })
  const answers: Record<string, readonly [type: string, body: () => string | Buffer]> = {
    '/': ['text/html', () => '<!doctype html><title>desk</title><script type="module" src="/client.js"></script>'],
    '/client.js': ['text/javascript', () => readFileSync(join(out, 'client-page.js'))],
    '/jobs': ['application/json', () => JSON.stringify(jobs)],
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url === '/reports') bring(await text(request))
    const [type, body] = answers[request.url ?? ''] ?? ['text/plain', () => '']
    response.setHeader('content-type', type).end(body())
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, reports, url: `http://localhost:${(server.address() as AddressInfo).port}/` }
}

function late(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`the page was waited for ${LIMIT / 1000} s`)), LIMIT).unref()
  })
}
