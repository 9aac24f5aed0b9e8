/** Scenarios that connect, list tools and call them. */
import { open, type Scenario, type Scenarios } from './scenario.ts'

const listTools: Scenario = async (run) => {
  await using client = await open(run)
  await client.listTools().all()
}

const callAddNumbers: Scenario = async (run) => {
  await using client = await open(run)
  await client.listTools().all()
  await client.callTool('add_numbers', { a: 5, b: 3 })
}

/** Declares every client capability, so that the suite can check the declarations. */
const declareEverything: Scenario = async (run) => {
  await using client = await open(run, {
    roots: [{ uri: 'file:///projects', name: 'projects' }],
    onSample: () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'Hello' } }),
    onElicit: () => ({ action: 'decline' }),
  })
  await client.listTools().all()
}

/** The server ends the stream during the call; the client reconnects after the `retry` time and receives the rest. */
const resume: Scenario = async (run) => {
  await using client = await open(run)
  await client.callTool('test_reconnection')
}

/** Accepts a form without content, so that the client fills in the defaults. */
const acceptDefaults: Scenario = async (run) => {
  await using client = await open(run, { onElicit: () => ({ action: 'accept', content: {} }) })
  await client.callTool('test_client_elicitation_defaults')
}

export const basics: Scenarios = {
  initialize: listTools,
  tools_call: callAddNumbers,
  'request-metadata': declareEverything,
  'sse-retry': resume,
  'elicitation-sep1034-client-defaults': acceptDefaults,
}
