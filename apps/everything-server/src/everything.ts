/** Creates the server with all features. Each call below adds one feature. */
import { createServer, type Server, type ServerOptions } from '@mcpx/server'
import { mountArchive } from './features/archive.ts'
import { addAsks } from './features/asks.ts'
import { mountThermometer } from './features/by-hand.ts'
import { addCallers } from './features/callers.ts'
import { mountCatalogue } from './features/catalogue.ts'
import { addChanges } from './features/changes.ts'
import { addContent } from './features/content.ts'
import { addElicitation } from './features/elicitation.ts'
import { addFailures } from './features/failures.ts'
import { reportFault } from './features/faults.ts'
import { addGuards } from './features/guards.ts'
import { mountDesk } from './features/guests.ts'
import { addLogging } from './features/logging.ts'
import { addDistance, noteExtension } from './features/notes.ts'
import { addPlugins, validator } from './features/plugins.ts'
import { addProgress } from './features/progress.ts'
import { addPrompts } from './features/prompts.ts'
import { addInputRequests } from './features/questions.ts'
import { addReconnection } from './features/reconnection.ts'
import { mountRelay } from './features/relay.ts'
import { addResources } from './features/resources.ts'
import { addSampling } from './features/sampling.ts'
import { addSchemas } from './features/schemas.ts'
import { everySkill } from './features/skills.ts'
import { addSteps } from './features/steps.ts'
import { addTasks, everyTask } from './features/tasks.ts'
import { addUrlRequired } from './features/url-required.ts'
import { addVisibility } from './features/visibility.ts'
import { createStore } from './serving/store.ts'

export async function createEverything(options: ServerOptions = {}): Promise<Server> {
  const server = createServer(
    { name: 'everything', version: '1.0.0', title: 'Everything', websiteUrl: 'https://example.com/everything' },
    {
      instructions: 'This server shows every feature. Begin with the tool test_simple_text.',
      // Several processes behind one address need the same secrets. The first secret is the newest.
      secrets: [process.env.EVERYTHING_SECRET ?? crypto.randomUUID()],
      stateTtl: 300_000,
      // Several processes would share an external store, for example the store of `@mcpx/store-redis`.
      store: createStore(),
      cache: { tools: { ttlMs: 1_000, cacheScope: 'private' } },
      extensions: [everySkill, everyTask, noteExtension],
      validator,
      onError: reportFault,
      // This answer is for hosts that cannot show forms. All other questions fail with an error.
      onUnsupported: { elicit: ({ key, message }) => (key === 'choices' ? `Ask the user: ${message}` : undefined) },
      onWarning: ({ message }) => console.error(message),
      ...options,
    },
  )
  addContent(server)
  addFailures(server)
  addProgress(server)
  addLogging(server)
  addReconnection(server)
  addSampling(server)
  addElicitation(server)
  addUrlRequired(server)
  addInputRequests(server)
  addAsks(server)
  addSteps(server)
  addTasks(server)
  addDistance(server)
  addSchemas(server)
  addPlugins(server)
  addChanges(server)
  addResources(server)
  addPrompts(server)
  addCallers(server)
  addVisibility(server)
  addGuards(server)
  mountCatalogue(server)
  mountArchive(server)
  mountDesk(server)
  mountThermometer(server)
  await mountRelay(server)
  return server
}
