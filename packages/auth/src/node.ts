/** What only Node has: a port for the browser to come back to, files, and names to look up. */

export { type FileStoreOptions, fileStore } from './node/file-store.ts'
export { type LoopbackRedirectOptions, loopbackRedirect } from './node/loopback-redirect.ts'
export { openBrowser } from './node/open-browser.ts'
export { resolveHost } from './node/resolve-host.ts'
