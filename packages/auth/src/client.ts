/** To be filled. */
export { AuthError } from './auth-error.ts'
