/** Runs a scenario in a revision: `MCP_CONFORMANCE_SCENARIO=initialize MCP_CONFORMANCE_PROTOCOL_VERSION=2025-06-18 node dist/main.js <url>`. */
import { env, exit } from 'node:process'
import { registry } from './registry.ts'
import { toRevision } from './revision.ts'

const scenario = env.MCP_CONFORMANCE_SCENARIO ?? ''
const url = process.argv.at(-1) ?? ''
const runScenario = Object.hasOwn(registry, scenario) ? registry[scenario] : undefined
if (runScenario === undefined) {
  console.error(`MCP_CONFORMANCE_SCENARIO: expected one of ${Object.keys(registry).join(', ')}, got '${scenario}'.`)
  exit(2)
}
const revision = toRevision(env.MCP_CONFORMANCE_PROTOCOL_VERSION)
await runScenario({ url, scenario, revision, context: JSON.parse(env.MCP_CONFORMANCE_CONTEXT ?? '{}') })
