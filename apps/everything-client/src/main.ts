/** Plays the scenario that the environment names: `MCP_CONFORMANCE_SCENARIO=initialize node dist/main.js <url>`. */
import { env, exit } from 'node:process'
import { registry } from './registry.ts'

const scenario = env.MCP_CONFORMANCE_SCENARIO ?? ''
const url = process.argv.at(-1) ?? ''
const play = Object.hasOwn(registry, scenario) ? registry[scenario] : undefined
if (play === undefined) {
  console.error(`There is no scenario '${scenario}': it is one of ${Object.keys(registry).join(', ')}.`)
  exit(2)
}
await play({ url, scenario, context: JSON.parse(env.MCP_CONFORMANCE_CONTEXT ?? '{}') })
