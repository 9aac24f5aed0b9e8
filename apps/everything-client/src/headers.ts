/** What travels as headers too: the method, what it is about, and the arguments that tools mark. */
import { reach, type Scenario, type Scenarios } from './scenario.ts'

const nameTheTarget: Scenario = async (run) => {
  await using client = await reach(run)
  const [tool] = await client.listTools().all()
  if (tool !== undefined) await client.callTool(tool.name)
  const [resource] = await client.listResources().all()
  if (resource !== undefined) await client.readResource(resource.uri)
  const [prompt] = await client.listPrompts().all()
  if (prompt !== undefined) await client.getPrompt(prompt.name)
}

interface ToolCall {
  readonly name: string
  readonly arguments: Record<string, unknown>
}

const mirrorArguments: Scenario = async (run) => {
  await using client = await reach(run)
  await client.listTools().all()
  for (const { name, arguments: given } of run.context.toolCalls as ToolCall[]) await client.callTool(name, given)
}

/** Tools whose marks make no sense are not in the list; all others can be called. */
const callWhatIsLeft: Scenario = async (run) => {
  await using client = await reach(run)
  for (const { name } of await client.listTools().all()) await client.callTool(name, { region: 'us-west1' })
}

export const headers: Scenarios = {
  'http-standard-headers': nameTheTarget,
  'http-custom-headers': mirrorArguments,
  'http-invalid-tool-headers': callWhatIsLeft,
}
