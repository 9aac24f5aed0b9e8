/** Scenarios of tool schemas: the client preserves them and never fetches a `$ref`. */
import { open, type Scenario, type Scenarios } from './scenario.ts'

const listOnly: Scenario = async (run) => {
  await using client = await open(run)
  await client.listTools().all()
}

const echoSchema: Scenario = async (run) => {
  await using client = await open(run)
  const tools = await client.listTools().all()
  const schema = tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.inputSchema
  await client.callTool('json_schema_echo', { schema })
}

export const schemas: Scenarios = {
  'json-schema-ref-no-deref': listOnly,
  'json-schema-2020-12-preservation': echoSchema,
}
