/** Checks that the benchmark measures the compiled packages, which users install. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const packages = [
  ...['@mcpx/protocol', '@mcpx/json-schema', '@mcpx/sse', '@mcpx/server', '@mcpx/client'],
  ...['@mcpx/transport-stdio', '@mcpx/transport-http', '@mcpx/store-redis', '@mcpx/toolset', '@mcpx/telemetry'],
]

/** Throws an error if a package is not installed and compiled. */
export function requireBuilt(): void {
  for (const name of packages) {
    const path = pathOf(name)
    if (!isCompiled(path))
      throw new Error(`${name}: expected the compiled package, got its sources. Run without the \`source\` condition`)
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

/** Whether a module is compiled. Modules of third-party packages are always compiled. */
export function isCompiled(path: string): boolean {
  return !/[\\/]packages[\\/][\w-]+[\\/]src[\\/]/.test(path)
}
