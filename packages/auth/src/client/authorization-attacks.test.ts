import { describe } from 'vitest'
import { type Attack, refuses } from './attack.fixture.ts'
import { manualRedirect } from './redirects.ts'
import { json, type WorldOptions } from './world.fixture.ts'

const endpointAt = (name: string, url: unknown): WorldOptions => ({ server: { [name]: url } })

const authorization: readonly Attack[] = [
  {
    name: 'an authorization server without PKCE',
    world: { server: { code_challenge_methods_supported: undefined } },
    step: 'authorization',
    says: /does not support PKCE with S256 \(code_challenge_methods_supported: none\)/,
  },
  {
    name: 'PKCE with the method plain',
    world: { server: { code_challenge_methods_supported: ['plain'] } },
    step: 'authorization',
    says: /does not support PKCE with S256/,
  },
  {
    name: 'an authorization server without an authorization endpoint',
    world: endpointAt('authorization_endpoint', undefined),
    step: 'authorization',
    says: /has no authorization_endpoint/,
  },
  {
    name: 'a callback with another iss',
    world: { callback: { iss: 'https://evil.example' } },
    step: 'authorization',
    says: /unexpected "iss" .*; iss is https:\/\/evil\.example/,
  },
  {
    name: 'an iss that differs by a slash',
    world: { callback: { iss: 'https://as.example/' } },
    step: 'authorization',
    says: /unexpected "iss" .*; iss is https:\/\/as\.example\/ /,
  },
  {
    name: 'a missing iss that the metadata announces',
    world: { callback: { iss: null } },
    step: 'authorization',
    says: /"iss" \(issuer\) missing/,
  },
  {
    name: 'another iss that the metadata does not announce',
    world: {
      server: { authorization_response_iss_parameter_supported: undefined },
      callback: { iss: 'https://evil.example' },
    },
    step: 'authorization',
    says: /unexpected "iss"/,
  },
  {
    name: 'an empty iss that the metadata does not announce',
    world: { server: { authorization_response_iss_parameter_supported: undefined }, callback: { iss: '' } },
    step: 'authorization',
    says: /The callback was rejected: iss is empty/,
  },
  {
    name: 'an error that is named like a member of every object',
    world: { callback: { code: null, error: 'constructor' } },
    step: 'authorization',
    says: /refused: constructor \(https:\/\/as\.example\/?\)\. Read the logs/,
  },
  {
    name: 'an error with another iss, and does not show the error',
    world: { callback: { iss: 'https://evil.example', code: null, error: 'do_as_i_say' } },
    step: 'authorization',
    says: /^(?!.*do_as_i_say).*unexpected "iss"/s,
  },
  {
    name: 'the state of another login',
    world: { callback: { state: 'other' } },
    step: 'authorization',
    says: /unexpected "state"/,
  },
  {
    name: 'a callback without a state',
    world: { callback: { state: null } },
    step: 'authorization',
    says: /"state" missing/,
  },
  {
    name: 'a callback without a code',
    world: { callback: { code: null } },
    step: 'authorization',
    says: /neither a code nor an error/,
  },
  {
    name: 'a login that the user denies',
    world: { callback: { code: null, error: 'access_denied', error_description: 'Not\u001b[31m today' } },
    step: 'authorization',
    says: /refused: access_denied: Not \[31m today.*did not agree/s,
  },
  {
    name: 'a callback at another address',
    options: {
      redirect: manualRedirect(
        'https://app.example/callback',
        (url) => `https://evil.example/callback?code=x&state=${url.searchParams.get('state')}`,
      ),
    },
    step: 'authorization',
    says: /The callback is not at https:\/\/app\.example\/callback/,
  },
  {
    name: 'a callback at another page of the same site, such as one that redirects anywhere',
    options: {
      redirect: manualRedirect(
        'https://app.example/callback',
        (url) => `https://app.example/go?code=x&iss=https://as.example&state=${url.searchParams.get('state')}`,
      ),
    },
    step: 'authorization',
    says: /The callback is not at https:\/\/app\.example\/callback/,
  },
  {
    name: 'a callback with two codes',
    options: {
      redirect: manualRedirect(
        'https://app.example/callback',
        (url) =>
          `https://app.example/callback?code=x&code=y&iss=https://as.example&state=${url.searchParams.get('state')}`,
      ),
    },
    step: 'authorization',
    says: /several codes/,
  },
  {
    name: 'a callback that is not a URL',
    options: { redirect: manualRedirect('https://app.example/callback', () => 'thank you') },
    step: 'authorization',
    says: /The callback is not a URL/,
  },
  {
    name: 'a redirect URI with plain HTTP',
    options: { redirect: manualRedirect('http://app.example/callback', () => '') },
    step: 'authorization',
    says: /The redirect URI cannot be used/,
  },
  {
    name: 'an authorization server without dynamic registration',
    world: endpointAt('registration_endpoint', undefined),
    step: 'registration',
    says: /does not support dynamic registration.*clientId/s,
  },
  {
    name: 'a refused redirect URI',
    world: { on: { 'https://as.example/register': () => json({ error: 'invalid_redirect_uri' }, 400) } },
    step: 'registration',
    says: /HTTP status 400: invalid_redirect_uri.*does not accept http:\/\/127\.0\.0\.1:3000/s,
  },
  {
    name: 'a registration without a client_id',
    world: { on: { 'https://as.example/register': () => json({}, 201) } },
    step: 'registration',
    says: /has no client_id/,
  },
  {
    name: 'a registration for an unknown authentication method',
    world: {
      on: {
        'https://as.example/register': () =>
          json({ client_id: 'x', token_endpoint_auth_method: 'tls_client_auth' }, 201),
      },
    },
    step: 'registration',
    says: /registered for tls_client_auth/,
  },
]

describe('a login refuses [C-143, C-146, C-148, C-149, C-156]', () => refuses(authorization))
