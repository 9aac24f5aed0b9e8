/** The page of `mcpx inspect` in headless Chromium. Left out where Chromium is not installed. */

import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
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
    await tab.getByRole('button', { name: 'Call search' }).click()
    await resultOf(tab).getByRole('button', { name: 'JSON' }).click()
    const text = await resultOf(tab).textContent()
    expect(text).toContain('"shoes in red"')
    const given = { q: 'shoes', limit: 3, sort: 'cheapest', exact: true, tags: ['red'], price: { max: 99.5 } }
    expect(text?.replaceAll('\\"', '"')).toContain(JSON.stringify(given))
    await tab.getByRole('log').getByText('tools/call').first().waitFor()
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

  it.each(['light', 'dark'] as const)(
    'has no fault that axe finds, and no horizontal scroll (%s)',
    async (colorScheme) => {
      const { url } = await inspect(createShop(), { folder: page.folder })
      for (const viewport of [
        { width: 1280, height: 800 },
        { width: 375, height: 740 },
      ]) {
        const tab = await visit(browser, url, { colorScheme, viewport })
        const check = async (place: string) => {
          expect(await faultsOf(tab), `${place}, ${viewport.width} px`).toEqual([])
          expect(await tab.evaluate('document.documentElement.scrollWidth'), place).toBe(viewport.width)
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
      }
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
