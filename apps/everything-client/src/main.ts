/** Plays a scenario in a revision: `MCP_CONFORMANCE_SCENARIO=initialize MCP_CONFORMANCE_PROTOCOL_VERSION=2025-06-18 node dist/main.js <url>`. */
import { env, exit } from 'node:process'
import { registry } from './registry.ts'
import { toRevision } from './revision.ts'

const scenario = env.MCP_CONFORMANCE_SCENARIO ?? ''
const url = process.argv.at(-1) ?? ''
const play = Object.hasOwn(registry, scenario) ? registry[scenario] : undefined
if (play === undefined) {
  console.error(`There is no scenario '${scenario}': it is one of ${Object.keys(registry).join(', ')}.`)
  exit(2)
}
const revision = toRevision(env.MCP_CONFORMANCE_PROTOCOL_VERSION)
await play({ url, scenario, revision, context: JSON.parse(env.MCP_CONFORMANCE_CONTEXT ?? '{}') })
