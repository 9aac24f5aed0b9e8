/** Schemas of tools: kept word for word, and never followed to other places. */
import { reach, type Scenario, type Scenarios } from './scenario.ts'

const listOnly: Scenario = async (run) => {
  await using client = await reach(run)
  await client.listTools().all()
}

const sendBack: Scenario = async (run) => {
  await using client = await reach(run)
  const tools = await client.listTools().all()
  const schema = tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.inputSchema
  await client.callTool('json_schema_echo', { schema })
}

export const schemas: Scenarios = {
  'json-schema-ref-no-deref': listOnly,
  'json-schema-2020-12-preservation': sendBack,
}
