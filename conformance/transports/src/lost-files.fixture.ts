/** Does something twice, and is not given a file the first time. Says for each time whether it went well. */

import { registerHooks } from 'node:module'
import { connect } from '@mcpx/client'
import { createServer } from '@mcpx/server'

const [what = ''] = process.argv.slice(2)
const isText = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const

const server = createServer({ name: 'lost', version: '1' }, { onError: () => {} }).tool(
  'echo',
  { description: 'Gives it back', input: isText, output: isText },
  (args) => ({ content: [{ type: 'text', text: String(args.text) }], structuredContent: args }),
)

async function call(): Promise<boolean> {
  const result = await client.callTool('echo', { text: 'twice' })
  return result.isError !== true
}

const ways: Readonly<Record<string, readonly [file: RegExp, run: () => Promise<unknown>]>> = {
  output: [/\/output-verdict\.ts$/, call],
}
const [file, run] = ways[what] ?? [/^/, async () => false]

const client = await connect(server)
if (what === 'output') for await (const _ of client.listTools());

let isLost = true
registerHooks({
  load(url, context, next) {
    if (!isLost || !file.test(url)) return next(url, context)
    isLost = false
    throw new Error('The disk was busy')
  },
})

const went: boolean[] = []
for (let time = 0; time < 2; time++) {
  went.push(
    await run().then(
      (result) => result !== false,
      () => false,
    ),
  )
}
process.stdout.write(JSON.stringify({ went, isLost }))
process.exit(0)
