import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

/** Prints the URLs of all modules that a module loads; of packages of ours, the sources. */
const program = `
  import { registerHooks } from 'node:module'
  const urls = []
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const isOurs = specifier.startsWith('@mcpx/')
      return nextResolve(specifier, isOurs ? { ...context, conditions: [...context.conditions, 'source'] } : context)
    },
    load(url, context, nextLoad) {
      urls.push(url)
      return nextLoad(url, context)
    },
  })
  await import(process.argv[1])
  process.stdout.write(JSON.stringify(urls))
`

it('the client loads neither Hono nor its server for Node', async () => {
  const entry = fileURLToPath(new URL('./client.ts', import.meta.url))
  const options = ['--input-type=module', '--eval', program, entry]
  const { stdout } = await promisify(execFile)(process.execPath, options)
  const urls = JSON.parse(stdout) as string[]
  expect(urls.some((url) => url.endsWith('/client/connection.ts'))).toBe(true)
  expect(urls.filter((url) => /node_modules\/@?hono\/|transport-http\/src\/(?:server|node)\//.test(url))).toEqual([])
})
