/** Scenarios of authorization: in some the client logs in, in others it must refuse to log in. */
import {
  type Auth,
  AuthError,
  clientCredentials,
  enterprise,
  manualRedirect,
  type OAuthOptions,
  oauth,
  workload,
} from '@mcpx/auth/client'
import { open, type Run, type Scenario, type Scenarios } from './scenario.ts'

/** The suite grants access without a login, so the authorization code is read from the redirect without following it. */
const redirect = manualRedirect('http://127.0.0.1:3000/callback', async (url) => {
  const { headers } = await fetch(url, { redirect: 'manual' })
  return headers.get('location') ?? ''
})

/** The client metadata document URL that the suite expects. It is never fetched. */
const clientMetadataUrl = 'https://conformance-test.local/client-metadata.json'

async function callTestTool(run: Run, auth: Auth): Promise<void> {
  await using client = await open(run, {}, { auth })
  await client.listTools().all()
  await client.callTool('test-tool', {})
}

function logIn(options: Partial<OAuthOptions> = {}): Scenario {
  return (run) => callTestTool(run, oauth({ redirect, clientMetadataUrl, ...options }))
}

/** Expects that the client rejects the login at this step. */
function expectRejection(step: AuthError['step']): Scenario {
  return async (run) => {
    const error = await logIn()(run).catch((error: unknown) => error)
    if (error instanceof AuthError && error.step === step) return
    throw error ?? new Error(`${run.scenario}: the client logged in`)
  }
}

/** Returns a string of the run's context; throws if it is missing. */
function readContext({ context, scenario }: Run, name: string): string {
  const value = context[name]
  if (typeof value === 'string') return value
  throw new Error(`${scenario}: the context has no ${name}`)
}

const credentials = (run: Run) => ({
  clientId: readContext(run, 'client_id'),
  clientSecret: readContext(run, 'client_secret'),
})

const logInPreRegistered: Scenario = (run) => {
  const { issuer } = run.context
  return callTestTool(run, oauth({ redirect, ...credentials(run), ...(typeof issuer === 'string' && { issuer }) }))
}

const logInWithPrivateKey: Scenario = (run) =>
  callTestTool(
    run,
    clientCredentials({
      clientId: readContext(run, 'client_id'),
      privateKey: readContext(run, 'private_key_pem'),
      algorithm: readContext(run, 'signing_algorithm'),
    }),
  )

const logInEnterprise: Scenario = (run) => {
  const identityProvider = {
    issuer: readContext(run, 'idp_issuer'),
    tokenEndpoint: readContext(run, 'idp_token_endpoint'),
    clientId: readContext(run, 'idp_client_id'),
    subjectToken: readContext(run, 'idp_id_token'),
  }
  return callTestTool(run, enterprise({ ...credentials(run), identityProvider }))
}

const defaultLogins = [
  'metadata-default',
  'metadata-var1',
  'metadata-var2',
  'metadata-var3',
  'basic-cimd',
  'scope-from-www-authenticate',
  'scope-from-scopes-supported',
  'scope-omitted-when-undefined',
  'scope-step-up',
  'token-endpoint-auth-basic',
  'token-endpoint-auth-post',
  'token-endpoint-auth-none',
  '2025-03-26-oauth-metadata-backcompat',
  '2025-03-26-oauth-endpoint-fallback',
  'offline-access-not-supported',
  'authorization-server-migration',
  'iss-supported',
  'iss-not-advertised',
]

export const auth: Scenarios = {
  ...Object.fromEntries(defaultLogins.map((name) => [`auth/${name}`, logIn()])),
  // Without a metadata document the client registers dynamically, and the suite checks the registration.
  'auth/offline-access-scope': logIn({ clientMetadataUrl: undefined }),
  'auth/scope-retry-limit': expectRejection('authorization'),
  'auth/resource-mismatch': expectRejection('discovery'),
  'auth/metadata-issuer-mismatch': expectRejection('discovery'),
  'auth/iss-supported-missing': expectRejection('authorization'),
  'auth/iss-wrong-issuer': expectRejection('authorization'),
  'auth/iss-unexpected': expectRejection('authorization'),
  'auth/iss-normalized': expectRejection('authorization'),
  'auth/pre-registration': logInPreRegistered,
  'auth/client-credentials-basic': (run) => callTestTool(run, clientCredentials(credentials(run))),
  'auth/client-credentials-jwt': logInWithPrivateKey,
  'auth/enterprise-managed-authorization': logInEnterprise,
  'auth/wif-jwt-bearer': (run) => callTestTool(run, workload({ assertion: readContext(run, 'valid_jwt') })),
  'auth/dpop': logIn({ dpop: true }),
  'auth/dpop-nonce': logIn({ dpop: true }),
}
