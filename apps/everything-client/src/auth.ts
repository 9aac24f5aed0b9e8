/** Scenarios that ask who the client is, and those in which it must not say. */
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
import { type Run, reach, type Scenario, type Scenarios } from './scenario.ts'

/** The suite agrees at once, and sends nobody to the address: it stands in the redirect. */
const redirect = manualRedirect('http://127.0.0.1:3000/callback', async (url) => {
  const { headers } = await fetch(url, { redirect: 'manual' })
  return headers.get('location') ?? ''
})

/** The document that the suite knows the client by. Nobody reads it. */
const clientMetadataUrl = 'https://conformance-test.local/client-metadata.json'

async function use(run: Run, auth: Auth): Promise<void> {
  await using client = await reach(run, {}, { auth })
  await client.listTools().all()
  await client.callTool('test-tool', {})
}

function logIn(options: Partial<OAuthOptions> = {}): Scenario {
  return (run) => use(run, oauth({ redirect, clientMetadataUrl, ...options }))
}

/** The client must notice what is wrong, and stop at this step. */
function refuse(step: AuthError['step']): Scenario {
  return async (run) => {
    const error = await logIn()(run).catch((error: unknown) => error)
    if (error instanceof AuthError && error.step === step) return
    throw error ?? new Error(`${run.scenario}: the client logged in`)
  }
}

/** A text of what the suite says of a run. */
function text({ context, scenario }: Run, name: string): string {
  const value = context[name]
  if (typeof value === 'string') return value
  throw new Error(`${scenario}: the context has no ${name}`)
}

const credentials = (run: Run) => ({
  clientId: text(run, 'client_id'),
  clientSecret: text(run, 'client_secret'),
})

const registeredByHand: Scenario = (run) => {
  const { issuer } = run.context
  return use(run, oauth({ redirect, ...credentials(run), ...(typeof issuer === 'string' && { issuer }) }))
}

const byKey: Scenario = (run) =>
  use(
    run,
    clientCredentials({
      clientId: text(run, 'client_id'),
      privateKey: text(run, 'private_key_pem'),
      algorithm: text(run, 'signing_algorithm'),
    }),
  )

const forAnEmployee: Scenario = (run) => {
  const identityProvider = {
    issuer: text(run, 'idp_issuer'),
    tokenEndpoint: text(run, 'idp_token_endpoint'),
    clientId: text(run, 'idp_client_id'),
    subjectToken: text(run, 'idp_id_token'),
  }
  return use(run, enterprise({ ...credentials(run), identityProvider }))
}

const plain = [
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
  ...Object.fromEntries(plain.map((name) => [`auth/${name}`, logIn()])),
  // Registers itself: what it says of itself there is looked at too.
  'auth/offline-access-scope': logIn({ clientMetadataUrl: undefined }),
  'auth/scope-retry-limit': refuse('authorization'),
  'auth/resource-mismatch': refuse('discovery'),
  'auth/metadata-issuer-mismatch': refuse('discovery'),
  'auth/iss-supported-missing': refuse('authorization'),
  'auth/iss-wrong-issuer': refuse('authorization'),
  'auth/iss-unexpected': refuse('authorization'),
  'auth/iss-normalized': refuse('authorization'),
  'auth/pre-registration': registeredByHand,
  'auth/client-credentials-basic': (run) => use(run, clientCredentials(credentials(run))),
  'auth/client-credentials-jwt': byKey,
  'auth/enterprise-managed-authorization': forAnEmployee,
  'auth/wif-jwt-bearer': (run) => use(run, workload({ assertion: text(run, 'valid_jwt') })),
  'auth/dpop': logIn({ dpop: true }),
  'auth/dpop-nonce': logIn({ dpop: true }),
}
