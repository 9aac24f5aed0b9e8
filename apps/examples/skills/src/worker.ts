/** A worker that serves the skills of the folder, from the bundle that `main.ts` writes when it builds the worker. */
import { createServer } from '@mcpx/server'
import { type SkillBundle, skills } from '@mcpx/skills'
import { mcp } from '@mcpx/transport-http'

/** In your project, write `import bundle from './skills.json'` instead. */
declare const BUNDLE: SkillBundle

const server = createServer({ name: 'handbook', version: '1.0.0' }, { extensions: [skills(BUNDLE)] })

// biome-ignore lint/style/noDefaultExport: a worker is the default export of its module
export default mcp(server)
