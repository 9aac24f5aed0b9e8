/** Runs the requester contract over each transport. */

import { describeContract, requesterContract } from '@mcpx/testing'
import { describe, it } from 'vitest'
import { transportCases } from './connections.fixture.ts'

for (const { name, tellsCancel, connect } of transportCases) {
  describeContract(`a requester over ${name}`, requesterContract(connect, { tellsCancel }), { describe, it })
}
