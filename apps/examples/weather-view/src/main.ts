/** Displays the view of a tool in headless Chromium, and checks its pixels. `npm start` */
import { strict as assert } from 'node:assert'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { serveHttp } from '@mcpx/transport-http/node'
import { chromium } from 'playwright-core'
import { countColors } from './colors.ts'
import { serveFrames, servePage } from './origins.ts'
import { server } from './server.ts'

const page = await servePage()
const frames = await serveFrames(() => page.origin)
const mcp = await serveHttp(server, { port: 0, cors: [page.origin] })
// Chromium's process sandbox does not work for root in a container. The `sandbox` attribute of the frame still applies.
const browser = await chromium.launch({
  executablePath: findChromium(),
  args: ['--no-sandbox'],
})
try {
  const tab = await browser.newPage({ viewport: { width: 600, height: 360 } })
  await tab.goto(`${page.origin}/?${new URLSearchParams({ server: mcp.url, frames: frames.origin })}`)
  const view = tab.frameLocator('iframe')
  await view.getByText('parent: blocked').waitFor({ timeout: 20_000 })
  assert.equal(await view.locator('h1').textContent(), 'Weather in Oslo')
  assert.equal(await view.locator('p').textContent(), 'Rain, 7 °C')
  assert.deepEqual(await view.locator('li').allTextContents(), [
    'delete_all: -32000',
    'connect-src: blocked',
    'parent: blocked',
  ])
  console.log('the view displays: Weather in Oslo, Rain, 7 °C')

  await view.getByRole('button', { name: 'Refresh' }).click()
  await view.getByText('Sun, 21 °C').waitFor({ timeout: 20_000 })
  console.log('the view called a tool: Sun, 21 °C')

  const image = await tab.screenshot()
  if (process.env.SCREENSHOT !== undefined) await writeFile(process.env.SCREENSHOT, image)
  const { background, foreground } = await countColors(browser, image)
  assert.ok(background > 0.7 && foreground > 0.005, `the view is blank: ${background} blue, ${foreground} white`)
  console.log('the view is blue with white text')
} finally {
  await browser.close()
  await mcp.close()
  frames.close()
  page.close()
}
console.log('ok')

function findChromium(): string {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
  const folders = (process.env.PATH ?? '').split(delimiter)
  const path = folders.flatMap((folder) => names.map((name) => join(folder, name))).find(existsSync)
  if (path === undefined) throw new Error(`PATH: expected one of ${names.join(', ')}. Install Chromium.`)
  return path
}
