/** Makes sure that what is measured is what users install: the compiled packages. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const packages = [
  ...['@mcpx/protocol', '@mcpx/json-schema', '@mcpx/sse', '@mcpx/server', '@mcpx/client'],
  ...['@mcpx/transport-stdio', '@mcpx/transport-http'],
]

/** Throws a sentence when a package is not there as users get it. */
export function requireBuilt(): void {
  for (const name of packages) {
    const path = pathOf(name)
    if (!isCompiled(path)) throw new Error(`${name} leads to its sources: run without the \`source\` condition`)
    if (!existsSync(path)) throw new Error(`${name} is not built: run \`npm run bench\`, which builds first`)
  }
}

function pathOf(name: string): string {
  try {
    return fileURLToPath(import.meta.resolve(name))
  } catch (cause) {
    throw new Error(`${name} is not installed: run \`npm run bench\`, which installs first`, { cause })
  }
}

/** Whether a module of the workspace is a compiled one; what others made is none of the workspace. */
export function isCompiled(path: string): boolean {
  return !/[\\/]packages[\\/][\w-]+[\\/]src[\\/]/.test(path)
}
