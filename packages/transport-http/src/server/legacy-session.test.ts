import { sessionContract } from '@mcpx/testing'
import { EndpointContext } from './endpoint-context.ts'
import { HttpSession, LiveSession } from './legacy/session.ts'
import { Sessions } from './legacy/sessions.ts'
import { HandWritten } from './server.fixture.ts'

sessionContract('a session over HTTP', {
  async create() {
    const sessions = new Sessions(new EndpointContext(new HandWritten(), {}))
    const id = crypto.randomUUID()
    await sessions.create(id, {}, undefined)
    return new HttpSession(new LiveSession(id, {}), (live, change) => sessions.update(live, change))
  },
})
