// Imports modules, and prints the time or the loaded files. `importer.mjs time|files <specifier> ...`
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

const [what, ...specifiers] = process.argv.slice(2)
const read = { modules: 0, kilobytes: 0 }

if (what === 'files') {
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) {
        read.modules += 1
        read.kilobytes += readFileSync(fileURLToPath(url)).length / 1000
      }
      return next(url, context)
    },
  })
}

const cpu = process.cpuUsage()
const begun = performance.now()
for (const specifier of specifiers) await import(specifier)
const ms = performance.now() - begun
const { user, system } = process.cpuUsage(cpu)

process.stdout.write(JSON.stringify(what === 'files' ? read : { ms, cpu: (user + system) / 1000 }))
process.exit(0)
