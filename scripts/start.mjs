// Shows what this is within seconds: sets up, builds, and runs the demo. `npm start [-- --once]`
import { capture, endChildrenWithUs, foreground } from './children.mjs'
import { elapsed, showProgress } from './progress.mjs'
import { root, setup, stop } from './setup.mjs'
import { removeStaleOutputs } from './stale-outputs.mjs'

endChildrenWithUs()
const env = await setup()
removeStaleOutputs(root)
const progress = showProgress('build')
const build = await capture('turbo', ['run', 'build', '--output-logs=errors-only'], { cwd: root, env })
const seconds = progress.done()
if (build.code !== 0) {
  process.stderr.write(build.output)
  stop('The build failed (the lines above say why): mend that, then run `npm start` again.')
}
console.log(`build: done in ${elapsed(seconds)}`)
process.exitCode = await foreground('node', ['apps/demo/src/main.ts', ...process.argv.slice(2)], { cwd: root, env })
