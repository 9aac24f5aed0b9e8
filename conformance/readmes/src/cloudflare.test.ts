/** Runs the Worker of the README of @mcpx/store-cloudflare on workerd, as its `wrangler.jsonc` describes it. */
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocksOf } from './blocks.ts'
import { pathOf } from './documents.ts'
import { runWorker, type Wrangler } from './run-worker.ts'

const blocks = blocksOf(pathOf('packages/store-cloudflare/README.md'))
const textOf = (matches: (block: (typeof blocks)[number]) => boolean) => blocks.find(matches)?.text ?? ''
const jsonc = textOf(({ language }) => language === 'jsonc')
const wrangler = JSON.parse(jsonc.replace(/^\s*\/\/.*$/gm, '').replace(/,(\s*[\]}])/g, '$1')) as Wrangler
const worker = textOf(({ file }) => file === wrangler.main).replaceAll('shop.example.com', '127.0.0.1')

describe('the Worker of packages/store-cloudflare/README.md', () => {
  let url = ''
  let stop = () => {}
  beforeAll(async () => {
    ;({ url, stop } = await runWorker(
      wrangler,
      { [wrangler.main]: worker },
      { SECRET: 'the same 32 characters everywhere' },
    ))
  })
  afterAll(() => stop())

  // Each request reaches one of four instances, so nearly all of these changes cross instances.
  it.each(['modern', 'legacy'] as const)(
    'notifies clients of the %s era of the changes of all instances',
    async (era) => {
      await using listener = await connect(http(url), { era })
      await using caller = await connect(http(url), { era })
      const changes = listener.listen({ resourceSubscriptions: ['shop://status'] })
      await changes.ready
      for (let n = 0; n < 10; n++) {
        const { content } = await caller.callTool('announce')
        expect(content).toEqual([{ type: 'text', text: 'announced' }])
        expect((await changes.next()).value).toEqual({ kind: 'resource', uri: 'shop://status' })
      }
    },
  )
})
