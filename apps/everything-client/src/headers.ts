/** Scenarios of mirrored headers: the method, the name of the target, and arguments with `x-mcp-header`. */
import { open, type Scenario, type Scenarios } from './scenario.ts'

const sendTargetNames: Scenario = async (run) => {
  await using client = await open(run)
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
  await using client = await open(run)
  await client.listTools().all()
  for (const { name, arguments: args } of run.context.toolCalls as ToolCall[]) await client.callTool(name, args)
}

/** Tools with an invalid `x-mcp-header` are not listed; all listed tools can be called. */
const callListedTools: Scenario = async (run) => {
  await using client = await open(run)
  for (const { name } of await client.listTools().all()) await client.callTool(name, { region: 'us-west1' })
}

export const headers: Scenarios = {
  'http-standard-headers': sendTargetNames,
  'http-custom-headers': mirrorArguments,
  'http-invalid-tool-headers': callListedTools,
}
