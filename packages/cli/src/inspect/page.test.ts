/** The page of `mcpx inspect` in headless Chromium. Left out where Chromium is not installed. */

import { writeFile } from 'node:fs/promises'
import process from 'node:process'
import { createServer } from '@mcpx/server'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ATTACK, hostileConnector } from './hostile.fixture.ts'
import { buildPage, hasChromium, inspect, launchBrowser, visit } from './inspect.fixture.ts'
import { createShop } from './shop.fixture.ts'

describe.runIf(hasChromium)('the page of mcpx inspect', () => {
  let browser: Browser
  let page: Awaited<ReturnType<typeof buildPage>>
  beforeAll(async () => {
    page = await buildPage()
    browser = await launchBrowser()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await page?.remove()
  })

  it.each(['modern', 'legacy'] as const)('connects, lists and calls in the %s era', async (era) => {
    const served = await serveHttp(createShop(), { port: 0 })
    onTestFinished(() => served.close())
    const { url } = await inspect(http(served.url), { folder: page.folder, era })
    const tab = await visit(browser, url)
    await tab.getByText('Connected').waitFor()
    expect(await tab.locator('.revision').textContent()).toBe(
      era === 'modern' ? '2026-07-28 modern' : '2025-11-25 legacy',
    )
    await tab.getByRole('link', { name: /^search/ }).click()
    await tab.getByLabel(/^q/).fill('shoes')
    await tab.getByRole('textbox', { name: /^limit/ }).fill('3')
    await tab.getByRole('combobox', { name: /^sort/ }).selectOption('cheapest')
    await tab.getByRole('combobox', { name: /^exact/ }).selectOption('true')
    await tab.getByRole('button', { name: 'Add tags' }).click()
    await tab.getByRole('textbox', { name: /^tags 1/ }).fill('red')
    await tab.getByRole('textbox', { name: /^max/ }).fill('99.50')
    await tab.keyboard.press('Control+Enter')
    await resultOf(tab).getByRole('button', { name: 'JSON' }).click()
    const text = await resultOf(tab).textContent()
    expect(text).toContain('"shoes in red"')
    const given = { q: 'shoes', limit: 3, sort: 'cheapest', exact: true, tags: ['red'], price: { max: 99.5 } }
    expect(text?.replaceAll('\\"', '"')).toContain(JSON.stringify(given))
    // The request and its result.
    await expect.poll(() => tab.getByRole('log').getByText('tools/call').count()).toBe(2)
  })

  it('shows the values that do not fit, sends nothing, and sends them anyway on request', async () => {
    const { url } = await inspect(createShop(), { folder: page.folder })
    const tab = await visit(browser, `${url}#tools/search`)
    const limit = tab.getByRole('textbox', { name: /^limit/ })
    await limit.fill('many')
    await tab.getByRole('button', { name: 'Call search' }).click()
    const problems = tab.getByRole('alert')
    await problems.getByText('2 values do not fit').waitFor()
    expect(await problems.textContent()).toContain('limit expected integer, got string')
    expect(await limit.getAttribute('aria-invalid')).toBe('true')
    expect(await tab.getByRole('log').getByText('tools/call').count()).toBe(0)
    await limit.fill('5')
    await problems.getByText('One value does not fit').waitFor()
    await tab.getByRole('button', { name: 'Send anyway' }).click()
    await resultOf(tab).waitFor()
    await expect.poll(() => tab.getByRole('log').getByText('tools/call').count()).toBe(2)
  })

  it('asks the questions of the server: forms, with their defaults and problems', async () => {
    const { url } = await inspect(createShop(), { folder: page.folder })
    const tab = await visit(browser, `${url}#tools/buy`)
    await tab.getByRole('button', { name: 'Call buy' }).click()
    const dialog = tab.getByRole('dialog', { name: 'The server asks' })
    await dialog.getByText('How many do you want?').waitFor()
    const count = dialog.getByRole('textbox', { name: /^count/ })
    await count.fill('12')
    await dialog.getByRole('textbox', { name: /^email/ }).fill('nobody')
    await dialog.getByRole('button', { name: 'Send' }).click()
    await dialog.getByText('2 values do not fit').waitFor()
    await expect.poll(() => tab.evaluate('document.activeElement.labels?.[0]?.textContent')).toMatch(/^count/)
    await count.fill('2')
    await dialog.getByRole('textbox', { name: /^email/ }).fill('ada@example.com')
    await dialog.getByRole('checkbox', { name: /^gift/ }).check()
    await dialog.getByRole('button', { name: 'Send' }).click()
    await resultOf(tab).getByText('bought {"count":2,"size":"small","email":"ada@example.com","gift":true}').waitFor()
    await tab.getByRole('button', { name: 'Call buy' }).click()
    await dialog.waitFor()
    await tab.keyboard.press('Escape')
    await resultOf(tab).getByText('not bought: cancel').waitFor()
  })

  it('shows a URL of the server in full before it is opened', async () => {
    const { url } = await inspect(createShop(), { folder: page.folder })
    const tab = await visit(browser, `${url}#tools/pay`)
    await tab.context().route('https://pay.example/**', (route) => route.fulfill({ body: 'pay' }))
    await tab.getByRole('button', { name: 'Call pay' }).click()
    const dialog = tab.getByRole('dialog')
    await dialog.getByText('https://pay.example/now?id=1&back=https%3A%2F%2Fshop.example').waitFor()
    const [opened] = await Promise.all([
      tab.context().waitForEvent('page'),
      dialog.getByRole('link', { name: 'Open the page' }).click(),
    ])
    expect(opened.url()).toBe('https://pay.example/now?id=1&back=https%3A%2F%2Fshop.example')
    expect(await opened.evaluate('[opener, document.referrer]')).toEqual([null, ''])
    await resultOf(tab).getByText('paid: accept').waitFor()
    await tab.getByRole('button', { name: 'Call pay' }).click()
    await dialog.getByRole('button', { name: 'Decline' }).click()
    await resultOf(tab).getByText('paid: decline').waitFor()
  })

  it.each(['modern', 'legacy'] as const)('lets the user play the model (%s)', async (era) => {
    const { url } = await inspect(createShop(), { folder: page.folder, era })
    const tab = await visit(browser, `${url}#tools/describe`)
    await tab.getByRole('button', { name: 'Call describe' }).click()
    const dialog = tab.getByRole('dialog', { name: 'The server asks a model' })
    await dialog.getByText('Describe the shoes.').waitFor()
    await dialog.getByLabel('Message of the assistant').fill('They are red.')
    await dialog.getByRole('button', { name: 'Send' }).click()
    await resultOf(tab).getByText('a person: {"type":"text","text":"They are red."}').waitFor()
    await tab.getByRole('button', { name: 'Call describe' }).click()
    await dialog.getByRole('button', { name: 'Decline' }).click()
    await resultOf(tab).waitFor()
  })

  it('shows progress and log messages, and cancels a call', async () => {
    const { url } = await inspect(createShop(), { folder: page.folder })
    const tab = await visit(browser, `${url}#tools/slow`)
    await tab.getByRole('button', { name: 'Call slow' }).click()
    await tab
      .getByRole('status')
      .getByText(/^step \d+$/)
      .waitFor()
    expect(Number(await tab.getByRole('progressbar').getAttribute('value'))).toBeGreaterThan(0)
    await tab
      .getByRole('log')
      .getByText(/info: step \d/)
      .first()
      .waitFor()
    await tab.getByRole('button', { name: 'Cancel' }).click()
    await tab.getByText(/^Cancelled after/).waitFor()
    await tab.getByRole('log').getByText('notifications/cancelled').waitFor()
  })

  it('shows images and Markdown, and requests nothing from other hosts', async () => {
    const { url } = await inspect(createShop(), { folder: page.folder })
    const tab = await visit(browser, `${url}#tools/picture`)
    const requests: string[] = []
    tab.on('request', (request) => {
      if (!request.url().startsWith('data:')) requests.push(new URL(request.url()).host)
    })
    await tab.getByRole('button', { name: 'Call picture' }).click()
    await resultOf(tab).getByRole('img', { name: 'image from the server' }).waitFor()
    await expect.poll(() => tab.evaluate('document.querySelector("img")?.naturalWidth')).toBe(8)
    await tab.goto(`${url}#resources/${encodeURIComponent('shop://terms')}`)
    const contents = resultOf(tab)
    await contents.getByRole('heading', { name: 'Terms', exact: true }).waitFor()
    expect(await tab.evaluate('[...document.querySelectorAll(".result a")].map((link) => link.href)')).toEqual([
      'https://example.com/',
      'https://example.com/tracker.png',
    ])
    expect(await contents.getByRole('img').count()).toBe(0)
    await contents.getByText('<img src=').waitFor()
    expect(new Set(requests)).toEqual(new Set([new URL(url).host]))
  })

  it('subscribes to a resource, and says when it was updated', async () => {
    const served = await serveHttp(createShop(), { port: 0 })
    onTestFinished(() => served.close())
    const { url, inspection } = await inspect(http(served.url), { folder: page.folder })
    const tab = await visit(browser, `${url}#resources/${encodeURIComponent('shop://terms')}`)
    await tab.getByRole('button', { name: 'Subscribe' }).click()
    await tab.getByRole('button', { name: 'Subscribed' }).waitFor()
    await inspection.run({ id: 'change', method: 'callTool', params: { name: 'change_terms', args: {} } })
    await tab.getByText(/^updated at/).waitFor()
    await tab.getByRole('button', { name: 'Subscribed' }).click()
    await tab.getByRole('button', { name: 'Subscribe', exact: true }).waitFor()
  })

  it('fills templates and prompts, with completion', async () => {
    const { url } = await inspect(createShop(), { folder: page.folder })
    const tab = await visit(browser, `${url}#resources/${encodeURIComponent('shop://item/{id}')}`)
    await tab.getByRole('combobox', { name: /^id/ }).fill('sho')
    await expect
      .poll(() => tab.evaluate('[...document.querySelectorAll("datalist option")].map((each) => each.value)'))
      .toContain('shoes')
    await tab.getByRole('combobox', { name: /^id/ }).fill('shoes')
    await tab.getByText('shop://item/shoes').waitFor()
    await tab.getByRole('button', { name: 'Read', exact: true }).click()
    await resultOf(tab).getByText('99').waitFor()
    await tab.goto(`${url}#prompts/review`)
    await tab.getByRole('button', { name: 'Get prompt' }).click()
    await tab.getByText('is required').waitFor()
    await tab.getByRole('combobox', { name: /^item/ }).fill('socks')
    await tab.getByRole('button', { name: 'Get prompt' }).click()
    await resultOf(tab).getByText('Review socks in a kind tone.').waitFor()
  })

  it('displays the view of a tool in a frame of another origin, which calls the server', async () => {
    const { url } = await inspect(createShop(), { folder: page.folder })
    const tab = await visit(browser, `${url}#tools/show_order`)
    await tab.getByLabel(/^item/).fill('shoes')
    await tab.getByRole('button', { name: 'Call show_order' }).click()
    const view = tab.frameLocator('iframe')
    await view.getByText('Order of shoes').waitFor()
    await view.getByText('shoes is on its way').waitFor()
    await view.getByRole('button', { name: 'Refresh' }).click()
    await view.getByText('It has arrived').waitFor()
    const frame = tab.frames()[1]
    expect(new URL(frame?.url() ?? '').origin).not.toBe(new URL(url).origin)
    expect(
      await frame?.evaluate('[origin, (() => { try { return parent.document.title } catch { return "blocked" } })()]'),
    ).toEqual(['null', 'blocked'])
    expect(await tab.locator('iframe').getAttribute('sandbox')).toBe('allow-scripts allow-forms')
  })

  it('copies a call as TypeScript and as a command', async () => {
    const { url } = await inspect(createShop(), { folder: page.folder })
    const tab = await visit(browser, `${url}#tools/show_order`, { permissions: ['clipboard-read', 'clipboard-write'] })
    await tab.getByLabel(/^item/).fill('red shoes')
    await tab.getByRole('button', { name: 'Copy as mcpx call' }).click()
    await tab.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await tab.evaluate('navigator.clipboard.readText()')).toBe("mcpx call shop.ts show_order 'item=red shoes'")
    await tab.getByRole('button', { name: 'Copy as TypeScript' }).click()
    await expect.poll(() => tab.evaluate('navigator.clipboard.readText()')).toContain('client.callTool("show_order"')
  })

  it('explains errors, and why there is no connection', async () => {
    const broken = await inspect(http('http://127.0.0.1:9/mcp'), { folder: page.folder })
    const { url } = await inspect(createShop(), { folder: page.folder })
    const tab = await visit(browser, `${url}#resources/${encodeURIComponent('shop://nothing')}`)
    const error = tab.getByRole('alert')
    await error.getByText('What to do:').waitFor()
    expect(await error.textContent()).toContain('-32602')
    await tab.goto(broken.url)
    await tab.getByText('Not connected', { exact: true }).waitFor()
    expect(await tab.getByRole('alert').textContent()).toContain('Server unreachable')
    await tab.getByRole('button', { name: 'Connect again' }).click()
    await tab.getByRole('alert').waitFor()
  })

  it('shows a hostile server without running its code, and stays usable', async () => {
    const { url } = await inspect(hostileConnector(), { folder: page.folder })
    const tab = await visit(browser, url)
    const hosts = new Set<string>()
    tab.on('request', (request) => {
      if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).host)
    })
    await tab.getByText('Connected').waitFor()
    await tab.getByText('Show 200 more').waitFor()
    expect(await tab.locator('.entry').count()).toBe(200)
    await tab.getByText('cyrillic \u0430\\u202e').waitFor()
    await tab.locator('.entry').first().click()
    await tab.getByRole('textbox', { name: /^constructor/ }).fill('own')
    await tab.getByRole('button', { name: 'Call the tool' }).click()
    await resultOf(tab).waitFor()
    await tab.getByText('20,000 of 3,000,000 characters').waitFor()
    for (const button of await resultOf(tab).getByRole('button', { name: 'Markdown' }).all()) await button.click()
    expect(
      await tab.evaluate('[...document.querySelectorAll(".result a")].map((link) => link.getAttribute("href"))'),
    ).toEqual(['#resources/javascript%3AglobalThis.owned%3D1'])
    await tab.getByRole('searchbox', { name: 'Filter tools' }).fill('tool 4999')
    await expect.poll(() => tab.locator('.entry').count()).toBe(1)
    await tab.goto(`${url}#resources/${encodeURIComponent('javascript:globalThis.owned=1')}`)
    await resultOf(tab).waitFor()
    await tab.goto(`${url}#prompts/${encodeURIComponent(ATTACK)}`)
    await tab.getByRole('button', { name: 'Get prompt' }).click()
    await resultOf(tab).waitFor()
    await tab.goto(`${url}#server`)
    await tab.getByText('Instructions').waitFor()
    await tab.getByRole('log').getByRole('button').last().click()
    expect(
      await tab.evaluate(
        '[globalThis.owned, ({}).owned, document.querySelectorAll("script, a[href^=javascript]").length]',
      ),
    ).toEqual([undefined, undefined, 1])
    expect(hosts).toEqual(new Set([new URL(url).host]))
    expect(tab.context().pages()).toHaveLength(1)
  })

  it('shows the form, the result and the messages side by side, as in the picture of the guide', async () => {
    const { url } = await inspect(createShop(), { folder: page.folder })
    const tab = await visit(browser, `${url}#tools/search`, { viewport: { width: 1280, height: 960 } })
    await tab.getByLabel(/^q/).fill('shoes')
    await tab.getByRole('combobox', { name: /^sort/ }).selectOption('cheapest')
    await tab.getByRole('button', { name: 'Call search' }).click()
    await resultOf(tab).getByText('"shoes in red"').waitFor()
    await tab.getByRole('log').getByText('tools/call').nth(1).waitFor()
    for (const part of [tab.getByRole('button', { name: 'Call search' }), resultOf(tab), tab.getByRole('log')])
      expect(await part.isVisible()).toBe(true)
    await tab.mouse.move(0, 0)
    const image = await tab.screenshot()
    if (process.env.SCREENSHOT !== undefined) await writeFile(process.env.SCREENSHOT, image)
  })

  it('survives 20,000 messages at once, and shows the newest', async () => {
    const { url } = await inspect(createShop(), { folder: page.folder })
    const tab = await visit(browser, `${url}#tools/flood`)
    await tab.getByRole('button', { name: 'Call flood' }).click()
    await resultOf(tab).getByText('flooded').waitFor()
    await tab.getByRole('log').getByText('info: flood 20000').waitFor()
    await tab.getByRole('searchbox', { name: 'Filter messages' }).fill('flood 19999')
    await expect.poll(() => tab.locator('.message').count()).toBe(1)
    await tab.getByRole('button', { name: 'Clear' }).click()
    await tab.getByText('No messages yet').waitFor()
  })

  it('says what a server does not have, and that the process has ended', async () => {
    const inspector = await inspect(createServer({ name: 'empty', version: '1.0.0' }), { folder: page.folder })
    const tab = await visit(browser, inspector.url, { expected: /^Failed to load resource/ })
    await tab.getByText('The server lists no tools').waitFor()
    await tab.goto(`${inspector.url}#prompts`)
    await tab.getByText('The server lists no prompts').waitFor()
    await inspector.close()
    await tab.getByText('mcpx inspect does not answer').waitFor()
    expect(await tab.locator('.status').textContent()).toContain('Offline')
  })

  it('connects again in the other era, and offers the roots that the user names', async () => {
    const { url } = await inspect(createShop(), { folder: page.folder })
    const tab = await visit(browser, `${url}#server`)
    await tab.getByText('Search before you buy.').waitFor()
    await tab.getByRole('combobox', { name: 'Era' }).selectOption('legacy')
    await tab.getByRole('button', { name: 'Connect again' }).click()
    await tab.getByText('2025-11-25').first().waitFor()
    await tab.getByRole('button', { name: 'Ping' }).click()
    await tab.getByText(/^Response after/).waitFor()
    await tab.getByRole('combobox', { name: 'Lowest level' }).selectOption('error')
    await tab.getByRole('log').getByText('logging/setLevel').first().waitFor()
    const root = tab.getByRole('textbox', { name: 'URI of a folder' })
    await root.fill('https://example.com/')
    await tab.getByRole('button', { name: 'Add root' }).click()
    await tab.getByText('expected a URI that begins with file://').waitFor()
    await root.fill('file:///home/ada')
    await tab.getByRole('button', { name: 'Add root' }).click()
    await tab.getByRole('button', { name: 'Remove file:///home/ada' }).waitFor()
    await tab.goto(`${url}#tools/folders`)
    await tab.getByRole('button', { name: 'Call folders' }).click()
    await resultOf(tab).getByText('file:///home/ada').waitFor()
  })

  it('can be used with the keyboard alone', async () => {
    const { url } = await inspect(createShop(), { folder: page.folder })
    const tab = await visit(browser, url)
    await tab.getByRole('link', { name: /^search/ }).waitFor()
    const pressUntil = async (name: RegExp) => {
      for (let step = 0; step < 60; step++) {
        await tab.keyboard.press('Tab')
        const label = await tab.evaluate(
          'document.activeElement.labels?.[0]?.textContent ?? document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
        )
        if (name.test(String(label))) return
      }
      throw new Error(`Tab does not reach ${name}`)
    }
    await pressUntil(/^show_order/)
    await tab.keyboard.press('Enter')
    await pressUntil(/^item/)
    await tab.keyboard.type('shoes')
    await pressUntil(/^Call show_order/)
    await tab.keyboard.press('Enter')
    await resultOf(tab).getByText('success').waitFor()
  })

  it.each([
    ['light', 375],
    ['dark', 1280],
  ] as const)(
    'has no fault that axe finds, and no horizontal scroll (%s, %i px)',
    async (colorScheme, width) => {
      const { url } = await inspect(createShop(), { folder: page.folder })
      const tab = await visit(browser, url, { colorScheme, viewport: { width, height: 800 } })
      const check = async (place: string) => {
        expect(await faultsOf(tab), place).toEqual([])
        expect(await tab.evaluate('document.documentElement.scrollWidth'), place).toBe(width)
      }
      await tab.getByRole('link', { name: /^search/ }).waitFor()
      await check('list')
      await tab.getByRole('link', { name: /^search/ }).click()
      await tab.getByRole('button', { name: 'Add tags' }).click()
      await tab.getByRole('button', { name: 'Call search' }).click()
      await check('problems')
      await tab.getByLabel(/^q/).fill('shoes')
      await tab.getByRole('button', { name: 'Call search' }).click()
      await resultOf(tab).waitFor()
      await check('result')
      await tab.goto(`${url}#tools/fail`)
      await tab.getByRole('button', { name: 'Call fail' }).click()
      await resultOf(tab).getByText('the tool failed').waitFor()
      await check('failure')
      await tab.goto(`${url}#resources/${encodeURIComponent('shop://terms')}`)
      await tab.getByText('tested').waitFor()
      await check('Markdown')
      await tab.goto(`${url}#resources/${encodeURIComponent('shop://nothing')}`)
      await tab.getByText('What to do').waitFor()
      await check('error')
      await tab.goto(`${url}#prompts/review`)
      await tab.getByRole('button', { name: 'Get prompt' }).click()
      await check('prompt')
      await tab.goto(`${url}#server`)
      await check('server')
      await tab.goto(`${url}#messages`)
      await tab.getByRole('log').getByRole('button').last().click()
      await check('messages')
      await tab.goto(`${url}#tools/buy`)
      await tab.getByRole('button', { name: 'Call buy' }).click()
      await tab.getByRole('dialog').waitFor()
      await check('question')
      await tab.getByRole('button', { name: 'Decline' }).click()
    },
    60_000,
  )
})

/** Returns what axe finds on the page. */
async function faultsOf(tab: Page): Promise<string[]> {
  // Not a script element, which the policy of the page refuses.
  await tab.evaluate(axe.source)
  const { violations } = (await tab.evaluate('axe.run()')) as axe.AxeResults
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

function resultOf(tab: Page) {
  return tab.getByRole('region', { name: 'Result' })
}
