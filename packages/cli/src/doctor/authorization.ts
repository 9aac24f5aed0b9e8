/** Checks what a client needs to log in: the challenge, and the metadata of the resource and of the authorization server. */

import { isObject } from '@mcpx/protocol'
import type { Diagnosis } from './findings.ts'
import { excerptOf, type Probe, type Prober } from './probe.ts'

type Metadata = Readonly<Record<string, unknown>>

/** Checks the authorization of a server that has responded with 401. */
export async function checkAuthorization(
  url: URL,
  refused: Probe,
  prober: Prober,
  diagnosis: Diagnosis,
): Promise<void> {
  const challenge = refused.headers.get('www-authenticate')
  const [, named] = /resource_metadata\s*=\s*"?([^",\s]+)/i.exec(challenge ?? '') ?? []
  if (challenge === null || !/^bearer\b|,\s*bearer\b/i.test(challenge)) {
    diagnosis.add('no-challenge', `POST ${url}: 401, WWW-Authenticate: ${challenge ?? 'none'}`)
  }
  const path = url.pathname === '/' ? '' : url.pathname
  const wellKnown = [
    new URL(`/.well-known/oauth-protected-resource${path}`, url),
    new URL('/.well-known/oauth-protected-resource', url),
  ]
  const places = named !== undefined && URL.canParse(named, url.href) ? [new URL(named, url)] : wellKnown
  const resource = await readFirst(places, prober)
  if (resource === undefined) {
    diagnosis.add('no-resource-metadata', `no metadata at ${places.map(String).join(' or ')}`)
    return
  }
  checkResource(url, resource.metadata, diagnosis)
  const servers = resource.metadata.authorization_servers
  const issuer = Array.isArray(servers)
    ? servers.find((each) => typeof each === 'string' && URL.canParse(each))
    : undefined
  if (issuer === undefined) {
    diagnosis.add('no-authorization-server', `${resource.place}: ${excerptOf(JSON.stringify(servers ?? 'none'))}`)
    return
  }
  await checkAuthorizationServer(issuer as string, prober, diagnosis)
}

function checkResource(url: URL, { resource, scopes_supported: scopes }: Metadata, diagnosis: Diagnosis): void {
  if (typeof resource !== 'string' || !URL.canParse(resource) || !covers(new URL(resource), url)) {
    diagnosis.add('resource-mismatch', `"resource" is ${JSON.stringify(resource ?? null)}, the URL is ${url}`)
    return
  }
  diagnosis.pass('the metadata of the resource fits the URL')
  const foreign = (Array.isArray(scopes) ? scopes : []).filter(
    (scope): scope is string => typeof scope === 'string' && /^api:\/\//.test(scope) && !scope.startsWith(resource),
  )
  if (foreign.length > 0) diagnosis.add('scope-resource', `scopes ${foreign.join(', ')} are not below ${resource}`)
}

/** Returns whether a resource is the URL, or a parent path of the URL. */
function covers(resource: URL, url: URL): boolean {
  const folder = resource.pathname.replace(/\/$/, '')
  return resource.origin === url.origin && (url.pathname === folder || `${url.pathname}/`.startsWith(`${folder}/`))
}

async function checkAuthorizationServer(issuer: string, prober: Prober, diagnosis: Diagnosis): Promise<void> {
  const url = new URL(issuer)
  const path = url.pathname.replace(/\/$/, '')
  const places = [
    new URL(`/.well-known/oauth-authorization-server${path}`, url),
    new URL(`/.well-known/openid-configuration${path}`, url),
    new URL(`${path}/.well-known/openid-configuration`, url),
  ]
  const found = await readFirst(places, prober)
  if (found === undefined) {
    diagnosis.add('no-server-metadata', `no metadata at ${places.map(String).join(' or ')}`)
    return
  }
  const { metadata, place } = found
  if (metadata.issuer !== issuer) {
    const seen = `"authorization_servers" says ${JSON.stringify(issuer)}, ${place} says ${JSON.stringify(metadata.issuer ?? null)}`
    diagnosis.add('issuer-mismatch', seen)
  }
  const missing = ['authorization_endpoint', 'token_endpoint'].filter((name) => typeof metadata[name] !== 'string')
  if (missing.length > 0) diagnosis.add('missing-endpoints', `${place} lacks ${missing.join(', ')}`)
  const methods = metadata.code_challenge_methods_supported
  if (!Array.isArray(methods) || !methods.includes('S256')) {
    diagnosis.add('no-pkce', `${place}: code_challenge_methods_supported is ${JSON.stringify(methods ?? null)}`)
  }
  if (metadata.registration_endpoint === undefined && metadata.client_id_metadata_document_supported !== true) {
    diagnosis.add(
      'no-registration',
      `${place}: neither registration_endpoint nor client_id_metadata_document_supported`,
    )
  }
  diagnosis.pass(`${issuer} is the authorization server`)
}

/** Returns the first JSON object at several URLs. */
async function readFirst(
  places: readonly URL[],
  prober: Prober,
): Promise<{ readonly metadata: Metadata; readonly place: URL } | undefined> {
  for (const place of places) {
    try {
      const { status, text } = await prober.send(place, {
        headers: { accept: 'application/json' },
        withCredentials: false,
      })
      const metadata: unknown = status === 200 ? JSON.parse(text) : undefined
      if (isObject(metadata)) return { metadata, place }
    } catch {
      // Try the next URL.
    }
  }
  return undefined
}
