/** Has each Node begin with a request that is answered late: what its `fetch` is told must hold from the first one on. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { out } from './bundle.ts'
import { start } from './programs.ts'
import type { Runtime } from './runtimes.ts'
import type { CheckResult } from './smoke.ts'

/** How long an answer takes, in ms: longer than `fetch` waits in the program. */
const LATE = 3_000

interface Found {
  readonly isLoaded: boolean
  readonly ours: string
  readonly bare: string
}

/** The client had the answer, such as it is, and `fetch` by itself did not wait for it. */
function isPatient({ isLoaded, ours, bare }: Found): boolean {
  return !isLoaded && /HTTP status 404/.test(ours) && /Headers Timeout Error/.test(bare)
}

export async function runFirstRequests(nodes: readonly Runtime[]): Promise<CheckResult[]> {
  const { server, url } = await serveLate()
  try {
    return await Promise.all(nodes.map((node) => runOne(node, url)))
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

async function runOne({ name, path }: Runtime, url: string): Promise<CheckResult> {
  const check = `${name} waits with its first request`
  try {
    const found = await start(path, [join(out, 'first-request.js'), url]).ended()
    return isPatient(JSON.parse(found) as Found) ? { check } : { check, fault: `it found ${found}` }
  } catch (error) {
    return { check, fault: String(error) }
  }
}

async function serveLate(): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    request.resume()
    setTimeout(() => response.writeHead(404).end(), LATE)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` }
}
