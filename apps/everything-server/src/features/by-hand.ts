/** A server made of one handler object. Each method provides a capability. */
import type { Change, LoggingLevel, Prompt, Tool } from '@mcpx/protocol'
import { createServer, invalidParams, resourceNotFound, type Server } from '@mcpx/server'

const URI = 'thermometer://now'
const set: Tool = {
  name: 'set',
  description: 'Sets the temperature',
  inputSchema: { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] },
}
const judge: Prompt = { name: 'judge', description: 'Is it warm?', arguments: [{ name: 'city', required: true }] }
const cities = ['Bergen', 'Oslo', 'Tromsø']

export function createThermometer(): Server {
  let celsius = 20
  let level: LoggingLevel = 'info'
  const listeners = new Set<(change: Change) => void>()
  let subscribers = 0
  return createServer(
    { name: 'thermometer', version: '1.0.0' },
    {
      listTools: () => ({ tools: [set] }),
      async callTool({ name, arguments: args }, { log }) {
        if (name !== set.name) throw invalidParams(`Unknown tool: ${name}`)
        celsius = Number(args?.celsius)
        await log.info(`It is ${celsius} °C now; subscribers: ${subscribers}, log level: ${level}`)
        for (const listener of listeners) listener({ kind: 'resource', uri: URI })
        return { content: [] }
      },
      listResources: () => ({ resources: [{ uri: URI, name: 'Temperature' }] }),
      listResourceTemplates: () => ({ resourceTemplates: [] }),
      readResource({ uri }) {
        if (uri !== URI) throw resourceNotFound(uri)
        return { contents: [{ uri, text: `${celsius} °C` }] }
      },
      subscribe() {
        subscribers += 1
      },
      unsubscribe() {
        subscribers -= 1
      },
      listPrompts: () => ({ prompts: [judge] }),
      getPrompt: ({ arguments: args }) => ({
        messages: [{ role: 'user', content: { type: 'text', text: `Is ${celsius} °C warm in ${args?.city}?` } }],
      }),
      complete({ argument }) {
        const values = cities.filter((city) => city.startsWith(argument.value))
        return { completion: { values, total: values.length, hasMore: false } }
      },
      setLogLevel(params) {
        level = params.level
      },
      changes(listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
  )
}

export function mountThermometer(server: Server): void {
  server.mount('thermometer', createThermometer())
}
