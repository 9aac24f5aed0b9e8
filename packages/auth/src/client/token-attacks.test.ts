import { describe } from 'vitest'
import { type Attack, endless, refuses, silent } from './attack.fixture.ts'
import { json, to } from './world.fixture.ts'

const token = 'https://as.example/token'

const tokens: readonly Attack[] = [
  {
    name: 'a token endpoint that redirects',
    world: { on: { [token]: () => to('https://as.example/elsewhere', 307) } },
    step: 'token',
    says: /redirect was not followed: secrets are sent to the named URL only/,
    never: 'elsewhere',
  },
  {
    name: 'a token endpoint that redirects to another origin',
    world: { on: { [token]: () => to('https://evil.example/token', 308) } },
    step: 'token',
    says: /redirect was not followed/,
    never: 'evil.example',
  },
  {
    name: 'an error that repeats the code, and removes the code from the message',
    world: {
      on: {
        [token]: (_, body) => json({ error: 'invalid_grant', error_description: `used: ${body.get('code')}` }, 400),
      },
    },
    step: 'token',
    says: /refused: invalid_grant: used: \[redacted\]/,
  },
  {
    name: 'status 502 without an error code',
    world: { on: { [token]: () => new Response('<html>', { status: 502 }) } },
    step: 'token',
    says: /HTTP status 502, without an error code/,
  },
  {
    name: 'a response that is not JSON',
    world: { on: { [token]: () => new Response('access_token=x') } },
    step: 'token',
    says: /is not a JSON object/,
  },
  {
    name: 'a token with line breaks',
    world: { token: { access_token: 'a\r\nx-evil: 1' } },
    step: 'token',
    says: /no access_token that fits into a header/,
  },
  {
    name: 'a token that is not a string',
    world: { token: { access_token: { a: 1 } } },
    step: 'token',
    says: /no access_token/,
  },
  { name: 'a token without a type', world: { token: { token_type: undefined } }, step: 'token', says: /no token_type/ },
  {
    name: 'a token of an unknown type',
    world: { token: { token_type: 'MAC' } },
    step: 'token',
    says: /token of type MAC \(https:\/\/as\.example\/token\)/,
  },
  {
    name: 'a bound token that was not requested',
    world: { token: { token_type: 'DPoP' } },
    step: 'token',
    says: /token of type DPoP.*dpop: true/s,
  },
  {
    name: 'an unbound token if a bound one was requested',
    options: { dpop: true },
    step: 'token',
    says: /not bound to the DPoP key \(https:\/\/as\.example\/token\)/,
  },
  {
    name: 'a token endpoint without a response',
    world: { on: { [token]: silent } },
    options: { timeout: 250 },
    step: 'token',
    says: /No response within 250 ms/,
  },
  {
    name: 'a token response with an endless body',
    world: { on: { [token]: endless } },
    options: { maxResponseSize: 1_000 },
    step: 'token',
    says: /over 1000 bytes/,
  },
  {
    name: 'a server that refuses every token',
    world: { serve: () => new Response('', { status: 401 }) },
    step: 'verification',
    says: /refuses a token that was just issued/,
  },
  {
    name: 'a server that requires a scope that the token has',
    world: {
      serve: () =>
        new Response('', {
          status: 403,
          headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="all"' },
        }),
    },
    step: 'authorization',
    says: /requires the scope all, although the token has it/,
  },
]

describe('a client refuses [C-152, C-154]', () => refuses(tokens))
