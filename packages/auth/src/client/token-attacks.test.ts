import { describe } from 'vitest'
import { type Attack, endless, refuses, silent } from './attack.fixture.ts'
import { json, to } from './world.fixture.ts'

const token = 'https://as.example/token'

const tokens: readonly Attack[] = [
  {
    name: 'a token endpoint that redirects',
    world: { on: { [token]: () => to('https://as.example/elsewhere', 307) } },
    step: 'token',
    says: /redirect was not followed: secrets go nowhere/,
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
    name: 'a token endpoint that refuses, and echoes the code',
    world: {
      on: {
        [token]: (_, body) => json({ error: 'invalid_grant', error_description: `used: ${body.get('code')}` }, 400),
      },
    },
    step: 'token',
    says: /refused: invalid_grant: used: \[redacted\]/,
  },
  {
    name: 'a token endpoint in trouble',
    world: { on: { [token]: () => new Response('<html>', { status: 502 }) } },
    step: 'token',
    says: /HTTP status 502, and no error said why/,
  },
  {
    name: 'a token endpoint that answers no JSON',
    world: { on: { [token]: () => new Response('access_token=x') } },
    step: 'token',
    says: /is no JSON object/,
  },
  {
    name: 'a token that breaks headers',
    world: { token: { access_token: 'a\r\nx-evil: 1' } },
    step: 'token',
    says: /no access_token that fits into a header/,
  },
  {
    name: 'a token that is no text',
    world: { token: { access_token: { a: 1 } } },
    step: 'token',
    says: /no access_token/,
  },
  { name: 'a token without a type', world: { token: { token_type: undefined } }, step: 'token', says: /no token_type/ },
  {
    name: 'a token of a type that nobody asked for',
    world: { token: { token_type: 'MAC' } },
    step: 'token',
    says: /token of type MAC/,
  },
  {
    name: 'a bound token that nobody asked for',
    world: { token: { token_type: 'DPoP' } },
    step: 'token',
    says: /token of type DPoP.*dpop: true/s,
  },
  {
    name: 'a token that is not bound though it was asked for',
    options: { dpop: true },
    step: 'token',
    says: /not bound to the DPoP key/,
  },
  {
    name: 'a token endpoint that never answers',
    world: { on: { [token]: silent } },
    options: { timeout: 250 },
    step: 'token',
    says: /No answer within 250 ms/,
  },
  {
    name: 'a token answer without end',
    world: { on: { [token]: endless } },
    options: { maxResponseSize: 1_000 },
    step: 'token',
    says: /over 1000 bytes/,
  },
  {
    name: 'a server that refuses every token',
    world: { serve: () => new Response('', { status: 401 }) },
    step: 'verification',
    says: /refuses a token that it has just asked for/,
  },
  {
    name: 'a server that never has enough',
    world: {
      serve: () =>
        new Response('', {
          status: 403,
          headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="all"' },
        }),
    },
    step: 'authorization',
    says: /wants the scope all, and says of a token that has it that it does not/,
  },
]

describe('a client is not taken in by the tokens that it is given [C-152, C-154]', () => refuses(tokens))
