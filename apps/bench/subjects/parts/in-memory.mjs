// A client and a server in one process, which make the number of calls that the parent process requests.
import { connect } from '@mcpx/client'
import { build } from './ours.mjs'

const client = await connect(build(), { era: process.env.ERA })

process.on('message', async (times) => {
  if (typeof times !== 'number') return
  let sum
  for (let n = 0; n < times; n++) sum = await client.callTool('add', { a: 2, b: 3 })
  process.send({ sum: sum.content[0].text })
})
process.channel.ref()
process.stdout.write('ready\n')
