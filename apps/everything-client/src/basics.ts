/** Scenarios that connect, list and call. */
import { reach, type Scenario, type Scenarios } from './scenario.ts'

const listTools: Scenario = async (run) => {
  await using client = await reach(run)
  await client.listTools().all()
}

const callAddNumbers: Scenario = async (run) => {
  await using client = await reach(run)
  await client.listTools().all()
  await client.callTool('add_numbers', { a: 5, b: 3 })
}

/** Everything that can be declared, so that the suite sees how it is declared. */
const declareEverything: Scenario = async (run) => {
  await using client = await reach(run, {
    roots: [{ uri: 'file:///projects', name: 'projects' }],
    onSample: () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'Hello' } }),
    onElicit: () => ({ action: 'decline' }),
  })
  await client.listTools().all()
}

/** The server ends the stream in the middle of the call; the client comes back for the rest when it was told to. */
const resume: Scenario = async (run) => {
  await using client = await reach(run)
  await client.callTool('test_reconnection')
}

/** The form comes with defaults, and the user leaves all of them as they are. */
const acceptDefaults: Scenario = async (run) => {
  await using client = await reach(run, { onElicit: () => ({ action: 'accept', content: {} }) })
  await client.callTool('test_client_elicitation_defaults')
}

export const basics: Scenarios = {
  initialize: listTools,
  tools_call: callAddNumbers,
  'request-metadata': declareEverything,
  'sse-retry': resume,
  'elicitation-sep1034-client-defaults': acceptDefaults,
}
