/** Serves trains on one origin and a page on another, and opens the page in headless Chromium. `npm start` */
import { strict as assert } from 'node:assert'
import { serveHttp } from '@mcpx/transport-http/node'
import { openPage } from './chromium.ts'
import { servePage } from './page-server.ts'
import { server } from './server.ts'

const page = await servePage()
// The server rejects pages of origins that are not listed here.
const mcp = await serveHttp(server, { port: 0, cors: [page.origin] })
console.log(`the page is on ${page.origin}, the server on ${new URL(mcp.url).origin}`)

const browser = await openPage(`${page.origin}/?${new URLSearchParams({ server: mcp.url, row: '7' })}`)
try {
  const lines = await Promise.race([page.finished, browser.ended])
  assert.deepEqual(lines, ['2026-07-28: Row 7 to Bergen.', '2025-11-25: Row 7 to Bergen.'])
  for (const line of lines) console.log(line)

  const foreign = await fetch(mcp.url, { method: 'POST', headers: { origin: 'https://elsewhere.example' } })
  assert.equal(foreign.status, 403)
  console.log('page of another origin: rejected')
} finally {
  await browser.close()
  await mcp.close()
  page.close()
}
console.log('ok')
