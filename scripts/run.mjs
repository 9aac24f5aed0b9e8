// Runs a command of the workspace, after installing its tools if needed. `node scripts/run.mjs <command> [arguments]`
import { endChildrenWithUs, foreground } from './children.mjs'
import { root, setup, stop } from './setup.mjs'

const build = ['turbo', 'run', 'build', '--output-logs=new-only']

/** Each command is a list of steps. The last step receives the arguments of the command line. */
const commands = {
  build: [build],
  typecheck: [build, ['tsc', '-p', 'tsconfig.test.json']],
  lint: [['biome', 'check', '--error-on-warnings'], ['knip']],
  format: [['biome', 'check', '--write']],
  check: [['node', 'scripts/check-architecture.ts'], build, ['node', 'conformance/packages/src/main.ts']],
  conformance: [build, ['node', 'conformance/official/src/main.ts']],
  docs: [['node', 'apps/reference/src/main.ts']],
  bench: [
    [...build, '--filter=@mcpx/bench^...'],
    ['node', 'apps/bench/src/main.ts'],
  ],
  soak: [
    [...build, '--filter=@mcpx/conformance-soak^...'],
    ['node', 'conformance/soak/src/main.ts'],
  ],
  changeset: [['changeset']],
  release: [['node', 'scripts/set-repository.mjs', '--check'], build, ['changeset', 'publish']],
  'release:dry': [build, ['node', 'conformance/packages/src/release.ts']],
}

const [name = '', ...more] = process.argv.slice(2)
const steps = Object.hasOwn(commands, name) ? commands[name] : undefined
if (steps === undefined) stop(`command: expected one of ${Object.keys(commands).join(', ')}, got '${name}'.`)
endChildrenWithUs()
const env = await setup()
for (const [index, [tool, ...args]] of steps.entries()) {
  const code = await foreground(tool, index === steps.length - 1 ? [...args, ...more] : args, { cwd: root, env })
  if (code !== 0) process.exit(code)
}
