/** An OAuth authorization server that runs inside a test or an example. */

export {
  type DevAuthorizationServer,
  devAuthorizationServer,
} from './authorization-server/dev-authorization-server.ts'
export type {
  ConsentRequest,
  DevAuthorizationServerOptions,
  DevClient,
  TrustedAssertions,
} from './authorization-server/options.ts'
export type { Fetch } from './authorization-server/urls.ts'
