/** Stores and redirects that need Node: files, a port for the callback of a login, and name resolution. */

export { type FileStoreOptions, fileStore } from './node/file-store.ts'
export { type LoopbackRedirectOptions, loopbackRedirect, openBrowser, resolveHost } from './node/loopback.ts'
