import { describe } from 'vitest'
import { type Attack, refuses } from './attack.fixture.ts'
import { manualRedirect } from './redirect.ts'
import { json, type WorldOptions } from './world.fixture.ts'

const endpointAt = (name: string, url: unknown): WorldOptions => ({ server: { [name]: url } })

const authorization: readonly Attack[] = [
  {
    name: 'no PKCE',
    world: { server: { code_challenge_methods_supported: undefined } },
    step: 'authorization',
    says: /does not offer PKCE with S256 \(code_challenge_methods_supported: none\)/,
  },
  {
    name: 'PKCE in the clear',
    world: { server: { code_challenge_methods_supported: ['plain'] } },
    step: 'authorization',
    says: /does not offer PKCE with S256/,
  },
  {
    name: 'no authorization endpoint',
    world: endpointAt('authorization_endpoint', undefined),
    step: 'authorization',
    says: /has no authorization_endpoint/,
  },
  {
    name: 'a swapped iss',
    world: { callback: { iss: 'https://evil.example' } },
    step: 'authorization',
    says: /from https:\/\/evil\.example \(iss\), and another authorization server was asked/,
  },
  {
    name: 'an iss that is merely alike',
    world: { callback: { iss: 'https://as.example/' } },
    step: 'authorization',
    says: /from https:\/\/as\.example\/ \(iss\)/,
  },
  {
    name: 'an iss that is missing',
    world: { callback: { iss: null } },
    step: 'authorization',
    says: /does not say who sent it \(iss\)/,
  },
  {
    name: 'an iss of another, where none was promised',
    world: {
      server: { authorization_response_iss_parameter_supported: undefined },
      callback: { iss: 'https://evil.example' },
    },
    step: 'authorization',
    says: /\(iss\)/,
  },
  {
    name: 'an error with a swapped iss, which is not shown',
    world: { callback: { iss: 'https://evil.example', code: null, error: 'do_as_i_say' } },
    step: 'authorization',
    says: /^(?!.*do_as_i_say).*\(iss\)/s,
  },
  {
    name: 'a state of another attempt',
    world: { callback: { state: 'other' } },
    step: 'authorization',
    says: /does not hold the state that was sent/,
  },
  { name: 'no state', world: { callback: { state: null } }, step: 'authorization', says: /does not hold the state/ },
  { name: 'no code', world: { callback: { code: null } }, step: 'authorization', says: /neither a code nor an error/ },
  {
    name: 'a user who says no',
    world: { callback: { code: null, error: 'access_denied', error_description: 'Not\u001b[31m today' } },
    step: 'authorization',
    says: /refused: access_denied: Not \[31m today.*said no/s,
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
    name: 'a callback that says its code twice',
    options: {
      redirect: manualRedirect(
        'https://app.example/callback',
        (url) =>
          `https://app.example/callback?code=x&code=y&iss=https://as.example&state=${url.searchParams.get('state')}`,
      ),
    },
    step: 'authorization',
    says: /holds code twice/,
  },
  {
    name: 'a callback that is no URL',
    options: { redirect: manualRedirect('https://app.example/callback', () => 'thank you') },
    step: 'authorization',
    says: /What came back is no URL/,
  },
  {
    name: 'a redirect over plain HTTP',
    options: { redirect: manualRedirect('http://app.example/callback', () => '') },
    step: 'authorization',
    says: /The redirect URI cannot be used/,
  },
  {
    name: 'a server that registers nobody',
    world: endpointAt('registration_endpoint', undefined),
    step: 'registration',
    says: /registers nobody on the spot.*clientId/s,
  },
  {
    name: 'a refused redirect URI',
    world: { on: { 'https://as.example/register': () => json({ error: 'invalid_redirect_uri' }, 400) } },
    step: 'registration',
    says: /HTTP status 400: invalid_redirect_uri.*does not take http:\/\/127\.0\.0\.1:3000/s,
  },
  {
    name: 'a registration without an id',
    world: { on: { 'https://as.example/register': () => json({}, 201) } },
    step: 'registration',
    says: /holds no client_id/,
  },
  {
    name: 'a registration for a method that is not known',
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

describe('a client is not taken in by what comes back with the user [C-143, C-146, C-148, C-149, C-156]', () =>
  refuses(authorization))
