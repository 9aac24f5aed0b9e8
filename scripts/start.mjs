// Installs the tools if needed, builds the packages and runs the demo. `npm start -- --help` lists its options.
import { capture, endChildrenWithUs, foreground } from './children.mjs'
import { elapsed, showProgress } from './progress.mjs'
import { root, setup, stop } from './setup.mjs'

// With --stdio, standard output carries the protocol: progress goes to standard error.
const write = process.stdout.write
if (process.argv.includes('--stdio')) process.stdout.write = process.stderr.write.bind(process.stderr)

endChildrenWithUs()
const env = await setup()
const progress = showProgress('build')
const args = ['run', 'build', '--filter=./packages/*', '--output-logs=errors-only']
const build = await capture('turbo', args, { cwd: root, env })
const seconds = progress.done()
if (build.code !== 0) {
  process.stderr.write(build.output)
  stop('The build failed (the lines above say why): fix that, then run `npm start` again.')
}
console.log(`build: done in ${elapsed(seconds)}`)
process.stdout.write = write
process.exitCode = await foreground('node', ['apps/demo/src/main.ts', ...process.argv.slice(2)], { cwd: root, env })
