/** Runs the suite in a page of headless Chromium. The origin of the page differs from the origins of the servers. */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { visit } from './browser-visit.ts'
import { out } from './bundle.ts'
import type { Job, Report } from './job.ts'

/** Opens the page and waits for its reports. */
export async function runInChromium(path: string, jobs: readonly Job[]): Promise<Report[]> {
  const { server, reports, url } = await servePage(jobs)
  try {
    return JSON.parse(await visit(path, url, reports)) as Report[]
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

/** Serves the page, its script and its jobs, and receives its reports. */
async function servePage(jobs: readonly Job[]): Promise<{ server: Server; reports: Promise<string>; url: string }> {
  let resolveReports: (text: string) => void = () => {}
  const reports = new Promise<string>((resolve) => {
    resolveReports = resolve
  })
  const answers: Record<string, readonly [type: string, body: () => string | Buffer]> = {
    '/': ['text/html', () => '<!doctype html><title>desk</title><script type="module" src="/client.js"></script>'],
    '/client.js': ['text/javascript', () => readFileSync(join(out, 'client-page.js'))],
    '/jobs': ['application/json', () => JSON.stringify(jobs)],
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url === '/reports') resolveReports(await text(request))
    const [type, body] = answers[request.url ?? ''] ?? ['text/plain', () => '']
    response.setHeader('content-type', type).end(body())
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, reports, url: `http://localhost:${(server.address() as AddressInfo).port}/` }
}
