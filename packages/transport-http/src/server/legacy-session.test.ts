import { sessionContract } from '@mcpx/testkit'
import { createRecords } from './eras/legacy-records.ts'
import { HttpSession } from './eras/legacy-session.ts'
import { createHost } from './host.ts'
import { HandWritten } from './server.fixture.ts'

sessionContract('a session over HTTP', {
  async create() {
    const records = createRecords(createHost(new HandWritten(), {}))
    const id = crypto.randomUUID()
    await records.create(id, {}, undefined)
    return new HttpSession(await records.live.hold(id, {}, 0), records.update)
  },
})
