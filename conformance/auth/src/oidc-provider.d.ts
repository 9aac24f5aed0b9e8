/** The part of oidc-provider that the tests use; it has no types. */

declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export class Provider {
    constructor(issuer: string, configuration: object)
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    on(event: 'grant.success', listener: (context: { oidc: { params: { grant_type: string } } }) => void): void
  }
}
