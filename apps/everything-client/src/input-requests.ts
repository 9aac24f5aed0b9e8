/** Calls that return input requests, with and without a request state. */
import { open, type Scenario, type Scenarios } from './scenario.ts'

const echoState: Scenario = async (run) => {
  await using client = await open(run, {
    onElicit: () => ({ action: 'accept', content: { confirmed: true } }),
  })
  await client.listTools().all()
  await client.callTool('test_mrtr_echo_state')
  await client.callTool('test_mrtr_no_state')
  await client.callTool('test_mrtr_unrelated')
  await client.callTool('test_mrtr_no_result_type')
}

export const inputRequests: Scenarios = { 'sep-2322-client-request-state': echoState }
