import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { pathOf } from './documents.ts'
import { optionsOf, rowOf } from './options.ts'

const documented = [
  ['server', 'server-core.ts', 'ServerOptions'],
  ['client', 'options.ts', 'ClientOptions'],
  ['transport-http', 'server/options.ts', 'EndpointOptions'],
  ['transport-http', 'server/options.ts', 'SessionOptions'],
  ['transport-http', 'server/options.ts', 'HttpLimits'],
  ['transport-http', 'node/serve-http.ts', 'ServeHttpOptions'],
  ['transport-http', 'client/options.ts', 'HttpOptions'],
  ['transport-http', 'client/options.ts', 'ReconnectOptions'],
  ['transport-stdio', 'serve-stdio.ts', 'ServeStdioOptions'],
  ['transport-stdio', 'spawn-options.ts', 'SpawnOptions'],
] as const

describe.each(documented)('the README of %s, on %s: %s', (name, file, interfaceName) => {
  const readme = readFileSync(pathOf(`packages/${name}/README.md`), 'utf8')
  const options = optionsOf(`packages/${name}/src/${file}`, interfaceName)

  it('has a line for each option', () => {
    expect(options.length).toBeGreaterThan(0)
    expect(options.filter((each) => rowOf(readme, each.name) === undefined).map((each) => each.name)).toEqual([])
  })

  it('names the defaults that the sources name', () => {
    const stale = options.filter(({ name, number }) => number !== undefined && !rowOf(readme, name)?.includes(number))
    expect(stale.map(({ name, number }) => `${name}: ${number}`)).toEqual([])
  })
})
