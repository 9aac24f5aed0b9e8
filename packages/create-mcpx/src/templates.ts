/** The templates and the package managers that a project can use. */

/** The templates by name, with a description. */
export const templates = {
  stdio: 'a server that a host starts as a program',
  hono: 'a server over HTTP, in a Hono app on Node',
  workers: 'a server on Cloudflare Workers',
  'full-stack': 'a server over HTTP, and a web page that calls it with a typed client',
} as const

/** The name of a template. */
export type TemplateName = keyof typeof templates

/** The package managers, each with its commands to install dependencies, to run a script and to run a program. */
export const packageManagers = {
  npm: { install: 'npm install', run: 'npm run', exec: 'npx' },
  pnpm: { install: 'pnpm install', run: 'pnpm run', exec: 'pnpm exec' },
  yarn: { install: 'yarn', run: 'yarn run', exec: 'yarn exec' },
  bun: { install: 'bun install', run: 'bun run', exec: 'bunx' },
} as const

/** The name of a package manager. */
export type PackageManager = keyof typeof packageManagers

/**
 * Returns the package manager that runs this program. Default: npm.
 *
 * @param userAgent the value of `npm_config_user_agent`, which begins with the name of the package manager
 */
export function runningPackageManager(userAgent: string | undefined): PackageManager {
  const name = userAgent?.split('/')[0] ?? ''
  return Object.hasOwn(packageManagers, name) ? (name as PackageManager) : 'npm'
}

/** Returns whether `name` names a template. */
export function isTemplate(name: string): name is TemplateName {
  return Object.hasOwn(templates, name)
}

/** Returns whether `name` names a package manager. */
export function isPackageManager(name: string): name is PackageManager {
  return Object.hasOwn(packageManagers, name)
}
