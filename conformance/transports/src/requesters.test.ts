/** What every requester must do, over each way to a server. */

import { requesterContract } from '@mcpx/testing'
import { ways } from './carriers.fixture.ts'

for (const { name, tellsCancel, connect } of ways) requesterContract(name, { connect, tellsCancel })
