/** The error of `@mcpx/auth/client` and `@mcpx/auth/node`. */

export { AuthError, type AuthErrorOptions, type AuthStep } from './auth-error.ts'
