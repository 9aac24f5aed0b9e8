/** Runs an action twice while a file fails to load the first time; prints for each run whether it succeeded. */

import { registerHooks } from 'node:module'
import { connect } from '@mcpx/client'
import { createServer } from '@mcpx/server'

const [action = ''] = process.argv.slice(2)
const isText = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const

const server = createServer({ name: 'lost', version: '1' }, { onError: () => {} }).tool(
  'echo',
  { description: 'Returns its arguments', input: isText, output: isText },
  (args) => ({ content: [{ type: 'text', text: String(args.text) }], structuredContent: args }),
)

async function call(): Promise<boolean> {
  const result = await client.callTool('echo', { text: 'twice' })
  return result.isError !== true
}

const actions: Readonly<Record<string, readonly [file: RegExp, run: () => Promise<unknown>]>> = {
  output: [/\/output-verdict\.ts$/, call],
}
const [file, run] = actions[action] ?? [/^/, async () => false]

const client = await connect(server)
if (action === 'output') for await (const _ of client.listTools());

let failsToLoad = true
registerHooks({
  load(url, context, next) {
    if (!failsToLoad || !file.test(url)) return next(url, context)
    failsToLoad = false
    throw new Error('The file could not be read')
  },
})

const succeeded: boolean[] = []
for (let time = 0; time < 2; time++) {
  succeeded.push(
    await run().then(
      (result) => result !== false,
      () => false,
    ),
  )
}
process.stdout.write(JSON.stringify({ succeeded, failsToLoad }))
process.exit(0)
