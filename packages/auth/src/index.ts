/** What both halves share. */

export { AuthError, type AuthErrorOptions, type AuthStep } from './auth-error.ts'
export type { Fetch } from './json-document.ts'
