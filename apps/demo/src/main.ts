/** Tells what the packages can do, and checks it. `npm start`; `--once` (end when all is told) is how it always ends so far. */
import { parseArgs } from 'node:util'
import { duplexStory } from './duplex-story.ts'
import { serverStory } from './server-story.ts'
import { sseStory } from './sse-story.ts'
import { tellAll } from './story.ts'

parseArgs({ options: { once: { type: 'boolean' } } })

const stories = [serverStory, duplexStory, sseStory]
const failed = await tellAll(stories)
console.log(`\n${stories.length - failed} stories told, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
