/** Calls that come back with questions, with and without a state to carry along. */
import { reach, type Scenario, type Scenarios } from './scenario.ts'

const carryState: Scenario = async (run) => {
  await using client = await reach(run, {
    onElicit: () => ({ action: 'accept', content: { confirmed: true } }),
  })
  await client.listTools().all()
  await client.callTool('test_mrtr_echo_state')
  await client.callTool('test_mrtr_no_state')
  await client.callTool('test_mrtr_unrelated')
  await client.callTool('test_mrtr_no_result_type')
}

export const questions: Scenarios = { 'sep-2322-client-request-state': carryState }
