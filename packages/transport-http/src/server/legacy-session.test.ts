import { describeContract, sessionContract } from '@mcpx/testing'
import { describe, it } from 'vitest'
import { EndpointContext } from './endpoint-context.ts'
import { HttpSession, LiveSession } from './legacy/session.ts'
import { Sessions } from './legacy/sessions.ts'
import { HandWritten } from './server.fixture.ts'

const cases = sessionContract(async () => {
  const sessions = new Sessions(new EndpointContext(new HandWritten(), {}))
  const id = crypto.randomUUID()
  await sessions.create(id, {}, undefined)
  return new HttpSession(new LiveSession(id, {}), (live, change) => sessions.update(live, change))
})
describeContract('a session over HTTP', cases, { describe, it })
