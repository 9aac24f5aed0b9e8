/** The glossary of docs/STYLE.md lists the callbacks of all public interfaces, and no other callbacks. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')

/** Callbacks between modules of one package, and the parameters of `then`. */
const INTERNAL = [
  'onEnd',
  'onFulfilled',
  'onKeepAlive',
  'onOther',
  'onRegister',
  'onRejected',
  'onStray',
  'onUnsupported',
]

/** Callbacks that are not optional. */
const REQUIRED = ['onEvent']

/** Returns the names of optional members and methods that begin with `on`. */
function findCallbacks(): string[] {
  const files = globSync('packages/*/src/**/*.ts', { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !/\.(?:test|test-d|fixture)\.ts$|^packages\/(?:cli|create-mcpx)\//.test(path))
  const names = files.flatMap((path) => [...read(path).matchAll(/^\s+(?:readonly )?(on[A-Z]\w+)\?[:(]/gm)])
  return [...new Set(names.map(([, name = '']) => name))].filter((name) => !INTERNAL.includes(name)).toSorted()
}

it('lists each callback of the public interfaces', () => {
  const [, rows = ''] = read('docs/STYLE.md').split(/^Callbacks\./m)
  const [table = ''] = rows.split(/^Durations/m)
  const listed = [...table.matchAll(/`(on[A-Z]\w+)/g)].map(([, name = '']) => name)
  expect([...new Set(listed)].toSorted()).toEqual([...findCallbacks(), ...REQUIRED].toSorted())
})
