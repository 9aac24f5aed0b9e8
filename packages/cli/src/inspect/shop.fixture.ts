/** A server with tools, resources and prompts of each kind, for the tests of the page. */

import { apps, ui } from '@mcpx/apps'
import { audio, createServer, image, ToolError } from '@mcpx/server'
import { z } from 'zod'

/** A red square of 8 by 8 pixels. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC'

const MARKDOWN = `# Terms

All sales are **final**. See [the site](https://example.com/) or [this](javascript:alert(1)).

| item  | price |
| ----- | ----- |
| shoes | 99    |

- [x] tested

<img src="https://example.com/tracker.png" onerror="alert(1)">

![a picture](https://example.com/tracker.png)

\`\`\`ts
const price = 99
\`\`\`
`

/** Speaks the protocol of views: shows the result of the call, and calls a tool when its button is pressed. */
const VIEW = `<!doctype html><meta charset="utf-8"><title>Order</title>
<style>body{margin:0;padding:16px;font:16px sans-serif;color:#fff;background:#1d4ed8}</style>
<h1>Loading</h1><p></p><button type="button">Refresh</button>
<script>
  const post = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
  let last = 0
  const waiting = new Map()
  const call = (method, params) => new Promise((resolve) => { waiting.set(++last, resolve); post({ id: last, method, params }) })
  addEventListener('message', ({ source, data }) => {
    if (source !== parent) return
    if (data.method === 'ui/notifications/tool-input') document.querySelector('h1').textContent = 'Order of ' + data.params.arguments.item
    else if (data.method === 'ui/notifications/tool-result') document.querySelector('p').textContent = data.params.content[0].text
    else if (data.id !== undefined && data.method === undefined) waiting.get(data.id)?.(data.result)
  })
  document.querySelector('button').onclick = async () => {
    const { content } = await call('tools/call', { name: 'order_state', arguments: {} })
    document.querySelector('p').textContent = content[0].text
  }
  call('ui/initialize', { protocolVersion: '2026-01-26', appInfo: { name: 'order', version: '1' }, appCapabilities: {} })
    .then(() => post({ method: 'ui/notifications/initialized', params: {} }))
</script>`

const view = ui('order', { html: VIEW, prefersBorder: true })

/** Creates the server. */
export function createShop() {
  const server = createServer(
    { name: 'shop', title: 'The shop', version: '1.2.3' },
    { instructions: 'Search before you buy.', extensions: [apps()] },
  )
  server
    .tool(
      'search',
      {
        title: 'Search the shop',
        description: 'Finds items by words, tags and price. Returns the best hits first.',
        annotations: { readOnlyHint: true },
        input: z.object({
          q: z.string().describe('Words to look for'),
          limit: z.number().int().min(1).max(50).default(10).describe('How many hits'),
          sort: z.enum(['best', 'cheapest', 'newest']).optional(),
          exact: z.boolean().optional(),
          tags: z.array(z.string()).optional(),
          price: z.object({ min: z.number().optional(), max: z.number().optional() }).optional(),
        }),
        output: z.object({ hits: z.array(z.string()), given: z.unknown() }),
      },
      (given) => ({ hits: [`${given.q} in red`, `${given.q} in blue`], given }),
    )
    .tool(
      'buy',
      { description: 'Asks how many, then buys.', annotations: { destructiveHint: true } },
      async (_, ctx) => {
        const answer = await ctx.elicit('count', {
          message: 'How many do you want?',
          schema: z.object({
            count: z.number().int().min(1).max(9),
            size: z.enum(['small', 'large']).default('small'),
            email: z.email().optional(),
            gift: z.boolean().default(false),
          }),
        })
        return answer.action === 'accept' ? `bought ${JSON.stringify(answer.content)}` : `not bought: ${answer.action}`
      },
    )
    .tool('pay', { description: 'Sends you to a page.' }, async (_, ctx) => {
      const { action } = await ctx.openUrl('page', {
        message: 'Pay here.',
        url: 'https://pay.example/now?id=1&back=https%3A%2F%2Fshop.example',
      })
      return `paid: ${action}`
    })
    .tool('describe', { description: 'Asks a model for a text.' }, async (_, ctx) => {
      const { content, model } = await ctx.sample('text', {
        messages: [{ role: 'user', content: { type: 'text', text: 'Describe the shoes.' } }],
        maxTokens: 100,
      })
      return `${model}: ${JSON.stringify(content)}`
    })
    .tool('picture', { description: 'Returns a picture and a sound.' }, () => [
      image(Buffer.from(PNG, 'base64'), 'image/png'),
      audio(Buffer.from('not really audio'), 'audio/wav'),
    ])
    .tool('fail', { description: 'Always fails.' }, () => {
      throw new ToolError('The shop is closed')
    })
    .tool('slow', { description: 'Takes long, with progress.' }, async (_, ctx) => {
      for (let step = 1; step <= 600; step++) {
        await ctx.progress(step, 600, `step ${step}`)
        await ctx.log.info(`step ${step}`)
        await new Promise((resolve) => setTimeout(resolve, 100))
        ctx.signal.throwIfAborted()
      }
      return 'done'
    })
    .tool('folders', { description: 'Lists your roots.' }, async (_, ctx) => JSON.stringify(await ctx.roots('folders')))
    .tool('flood', { description: 'Sends many log messages.' }, async (_, ctx) => {
      for (let step = 1; step <= 20_000; step++) await ctx.log.info(`flood ${step} ${'x'.repeat(200)}`)
      return 'flooded'
    })
    .tool(
      'show_order',
      { description: 'Shows an order in a view.', input: z.object({ item: z.string() }), ui: view },
      ({ item }) => `${item} is on its way`,
    )
    .tool('order_state', { ui: { visibility: ['app'] } }, () => 'It has arrived')
    .tool('change_terms', { description: 'Notifies the subscribers of the terms.' }, () => {
      server.resourceUpdated('shop://terms')
      return 'changed'
    })
    .resource(
      'shop://terms',
      { title: 'Terms', description: 'Terms of sale', mimeType: 'text/markdown', subscribe: true },
      () => MARKDOWN,
    )
    .resource('shop://logo', { title: 'Logo', mimeType: 'image/png' }, () => Buffer.from(PNG, 'base64'))
    .resource(
      'shop://item/{id}',
      { title: 'Item', description: 'One item', complete: { id: () => ['shoes', 'shirt', 'socks'] } },
      ({ id }) => ({ id, price: 99 }),
    )
    .prompt(
      'review',
      {
        description: 'Review an item',
        args: z.object({ item: z.string(), tone: z.string().optional() }),
        complete: { item: () => ['shoes', 'shirt'] },
      },
      ({ item, tone = 'kind' }) => `Review ${item} in a ${tone} tone.`,
    )
  return server
}
