/** Runs the requester contract over each transport. */

import { describeContract, requesterContract } from '@mcpx/testing'
import { describe, it } from 'vitest'
import { transportCases } from './connections.fixture.ts'

for (const { name, supportsCancel, connect } of transportCases) {
  describeContract(`a requester over ${name}`, requesterContract(connect, { supportsCancel }), { describe, it })
}
