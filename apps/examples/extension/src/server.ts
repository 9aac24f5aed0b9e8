/** A server with the extension, and a mounted server. The extension also charges calls of its tools. */
import { createServer } from '@mcpx/server'
import { type Account, credits } from './credits.ts'

export const account: Account = { balance: 5 }

const maps = createServer({ name: 'maps', version: '1.0.0' }, { extensions: [credits(account)] }).tool(
  'route',
  { description: 'A route', cost: 2 },
  () => 'straight ahead',
)

export const server = createServer({ name: 'oracle', version: '1.0.0' }, { extensions: [credits(account)] })
  .tool('ask', { description: 'Answers any question', cost: 3 }, () => 'Maybe.')
  .tool('now', { description: 'The time, which is free' }, () => 'now')
  .mount('maps', maps)
