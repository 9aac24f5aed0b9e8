// Shows what this is within seconds: sets up, builds, and runs the demo. `npm start -- --help` lists its options.
import { capture, endChildrenWithUs, foreground } from './children.mjs'
import { elapsed, showProgress } from './progress.mjs'
import { root, setup, stop } from './setup.mjs'
import { removeStaleOutputs } from './stale-outputs.mjs'

// Standard output is the protocol's when a host has started us: what is said on the way there goes to standard error.
const write = process.stdout.write
if (process.argv.includes('--stdio')) process.stdout.write = process.stderr.write.bind(process.stderr)

endChildrenWithUs()
const env = await setup()
const progress = showProgress('build')
// Nothing but the packages: what the applications and checks build besides is not needed to see them at work.
const args = ['run', 'build', '--filter=./packages/*', '--output-logs=errors-only']
const build = await capture('turbo', args, { cwd: root, env })
const seconds = progress.done()
if (build.code !== 0) {
  process.stderr.write(build.output)
  stop('The build failed (the lines above say why): mend that, then run `npm start` again.')
}
removeStaleOutputs(root)
console.log(`build: done in ${elapsed(seconds)}`)
process.stdout.write = write
process.exitCode = await foreground('node', ['apps/demo/src/main.ts', ...process.argv.slice(2)], { cwd: root, env })
