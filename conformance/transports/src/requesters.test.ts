/** What every requester must do, over each way to a server. */

import { describeContract, requesterContract } from '@mcpx/testing'
import { describe, it } from 'vitest'
import { ways } from './carriers.fixture.ts'

for (const { name, tellsCancel, connect } of ways) {
  describeContract(`a requester over ${name}`, requesterContract(connect, { tellsCancel }), { describe, it })
}
