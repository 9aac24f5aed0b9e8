/** Every option in ms of the packages has a test with the clock of the test kit, or a reason why the clock cannot drive it. */

import { existsSync, globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')

const AUTH = 'conformance/transports/src/fake-clock-auth.test.ts'
const TOKENS = 'packages/auth/src/front/token-attacks.test.ts'
const HERE = 'conformance/transports/src/fake-clock.test.ts'

/** The file of a test with a fake clock, and a part of the name of the test. */
interface Driven {
  readonly file: string
  readonly test: string
}

const driven = (test: string, file: string = HERE): Driven => ({ file, test })
const REQUEST = 'passed to the requests of a client, whose timeout is driven'
const OTHER_PROCESS = 'belongs to the process of a stdio server, which ends by real timers'
const OTHER_CLOCK = 'counted by the clock of the database'
const FUNCTION_OF_NODE = 'counted by the sockets of Node, not by a timer of JavaScript'

/** The options in ms, by the file in `packages` and their name. A string is the reason why the clock does not drive it. */
const DURATIONS: Readonly<Record<string, Driven | string>> = {
  'apps/client.ts timeout': REQUEST,
  'apps/host.ts closeTimeout': driven('waits for the view, but not forever', 'packages/apps/src/host.test.ts'),
  'auth/client/create-login.ts timeout': driven('timeout of oauth', AUTH),
  'auth/client/redirects.ts timeout': driven(
    'but not one that has cut itself off',
    'packages/auth/src/client/redirects.test.ts',
  ),
  'auth/node/file-store.ts lockTimeout': driven('lockTimeout of fileStore', AUTH),
  'auth/node/loopback.ts timeout': driven('timeout of loopbackRedirect', AUTH),
  'auth/front/options.ts accessTokenTtl': driven('expire, are not refresh tokens', TOKENS),
  'auth/front/options.ts codeTtl': driven("it('expire', ", TOKENS),
  'auth/front/options.ts grantTtl': driven('end with the login', 'packages/auth/src/front/front.test.ts'),
  'auth/front/options.ts loginTtl': driven(
    'forgets a login that takes too long',
    'packages/auth/src/front/login-attacks.test.ts',
  ),
  'auth/front/options.ts refreshGrace': driven('used again after the grace period', TOKENS),
  'auth/front/options.ts rememberConsent': driven('remembers a consent', 'packages/auth/src/front/front.test.ts'),
  'auth/front/options.ts timeout': driven('timeout of oauthFront', AUTH),
  'auth/resource-server/bearer.ts clockTolerance': driven('clockTolerance: 30 s', AUTH),
  'auth/resource-server/bearer.ts cooldown': driven('timeout and cooldown of bearer', AUTH),
  'auth/resource-server/bearer.ts maxAge': driven(
    'are no longer accepted after the issuer has removed them',
    'packages/auth/src/resource-server/issuers.test.ts',
  ),
  'auth/resource-server/bearer.ts timeout': driven('timeout and cooldown of bearer', AUTH),
  'auth/resource-server/bearer.ts verifiedMaxAge': driven(
    'caches for maxAge at most',
    'packages/auth/src/resource-server/verified-tokens.test.ts',
  ),
  'auth/resource-server/dpop.ts maxAge': driven('dpop.maxAge: 5 min', AUTH),
  'auth/resource-server/dpop.ts ttl': driven('expires', 'packages/auth/src/resource-server/nonces.test.ts'),
  'auth/resource-server/introspection.ts maxAge': driven('introspection.maxAge: 10 s', AUTH),
  'client/options.ts connectTimeout': driven('connectTimeout: 30 s'),
  'client/options.ts maxTimeout': driven('maxTimeout: 10 min'),
  'client/options.ts timeout': driven('timeout: 60 s'),
  'client/subscriptions.ts timeout': driven('timeout of listen: 60 s'),
  'protocol/connection.ts drainTimeout': driven('drainTimeout: 1 min'),
  'protocol/exchange.ts maxTimeout': driven('maxTimeout: 10 min'),
  'protocol/exchange.ts timeout': driven('timeout: 60 s'),
  'protocol/limits.ts stallTimeout': driven('stallTimeout: 1 min'),
  'protocol/memory-stores.ts ttl': driven(
    'removes expired entries',
    'packages/protocol/src/memory-stores-expiry.test.ts',
  ),
  'protocol/transport.ts probeTimeout': driven('probeTimeout, and shutdown'),
  'server/middleware/rate-limit.ts window': driven('window of rateLimit: 1 min'),
  'server/request-state.ts ttl': driven('stateTtl: 10 min'),
  'server/server.ts stateTtl': driven('stateTtl: 10 min'),
  'skills/client/library.ts timeout': REQUEST,
  'sse/encode.ts retry': 'the value of a field, which the client counts',
  'store-cloudflare/client.ts eventTtl': OTHER_CLOCK,
  'store-redis/redis.ts eventTtl': OTHER_CLOCK,
  'store-redis/redis.ts timeout': driven('timeout of redisStore: 5 s'),
  'store-sqlite/options.ts eventTtl': driven(
    'does not return an expired stream',
    'packages/store-sqlite/src/store.test.ts',
  ),
  'store-sqlite/options.ts pollInterval': driven(
    'does not poll without subscriptions',
    'packages/store-sqlite/src/store.test.ts',
  ),
  'store-sqlite/options.ts timeout': 'counted by SQLite, which blocks the process',
  'tasks/options.ts inlineTime': driven('inlineTime, pollInterval, lease'),
  'tasks/options.ts lease': driven('inlineTime, pollInterval, lease'),
  'tasks/options.ts pollInterval': driven('inlineTime, pollInterval, lease'),
  'tasks/options.ts ttl': driven('ttl: 1 h, then the task fails'),
  'testing/authorization-server/options.ts accessTokenTtl': driven('accessTokenTtl and expiry of tokens', AUTH),
  'testing/authorization-server/options.ts codeTtl': driven(
    'lifetimes',
    'packages/testing/src/authorization-server/dev-authorization-server.test.ts',
  ),
  'testing/contract.ts timeout': 'the time limit of a test, which has to end tests that hang',
  'testing/server/faults.ts delay': driven('delay of faults: 1 min'),
  'transport-http/client/event-reader.ts retry': driven('reconnect.minDelay and maxDelay'),
  'transport-http/client/options.ts keepAlive': driven('a silent stream is replaced after 1 min'),
  'transport-http/client/options.ts maxDelay': driven('reconnect.minDelay and maxDelay'),
  'transport-http/client/options.ts minDelay': driven('reconnect.minDelay and maxDelay'),
  'transport-http/client/options.ts probeTimeout': driven('probeTimeout: 10 s'),
  'transport-http/node/serve-http.ts keepAliveTimeout': FUNCTION_OF_NODE,
  'transport-http/node/serve-http.ts requestTimeout': FUNCTION_OF_NODE,
  'transport-http/server/options.ts awayTimeout': driven('sessions.awayTimeout: 5 min'),
  'transport-http/server/options.ts bodyTimeout': driven('bodyTimeout: 30 s'),
  'transport-http/server/options.ts keepAlive': driven('keepAlive of streams: 15 s'),
  'transport-http/server/options.ts retry': driven('reconnect.minDelay and maxDelay'),
  'transport-http/server/options.ts sendTimeout': FUNCTION_OF_NODE,
  'transport-http/server/options.ts ttl': driven('sessions.ttl: 30 min'),
  'transport-stdio/restart.ts delay': driven('restart.delay'),
  'transport-stdio/restart.ts healthyAfter': driven('restart.delay'),
  'transport-stdio/restart.ts maxDelay': driven('restart.delay'),
  'transport-stdio/serve.ts drainTimeout': OTHER_PROCESS,
  'transport-stdio/serve.ts exitTimeout': OTHER_PROCESS,
  'transport-stdio/spawn.ts end': driven('probeTimeout, and shutdown'),
  'transport-stdio/spawn.ts kill': driven('probeTimeout, and shutdown'),
  'transport-stdio/spawn.ts terminate': driven('probeTimeout, and shutdown'),
  'transport-stdio/spawn.ts probeTimeout': driven('probeTimeout, and shutdown'),
  'transport-stdio/stream-channel.ts flushTimeout': driven('flushTimeout of streams: 5 s'),
  'transport-stdio/stream-channel.ts probeTimeout': driven('probeTimeout, and shutdown'),
}

/** Durations that have no default, or whose default is in a table of limits. */
const REQUIRED = [
  'protocol/limits.ts stallTimeout',
  'protocol/memory-stores.ts ttl',
  'server/middleware/rate-limit.ts window',
]

/** Names of durations. Some interfaces state the unit once for all of their members. */
const DURATION =
  /(?:^ttl|Ttl|[tT]imeout|Delay|^delay|[iI]nterval|axAge|Grace|^cooldown|Tolerance|^lease|^retry|keepAlive|^rememberConsent|^end|^terminate|^kill)$/

/** The options that are durations, by their name or the unit in their doc comment. */
function findDurations(): string[] {
  const files = globSync('packages/*/src/**/*.ts', { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !/\.(?:test|test-d|fixture)\.ts$|^packages\/(?:cli|create-mcpx)\//.test(path))
  const found = files.flatMap((path) =>
    [...read(path).matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:readonly )?(\w+)\?: ([^\n]+)/g)]
      .filter(([, , , type = '']) => /^number \| /.test(type))
      .filter(([, comment = '', name = '']) => /\bms\b(?! since)/.test(comment) || DURATION.test(name))
      .map(([, , name]) => `${path.replace(/^packages\/([^/]+)\/src\//, '$1/')} ${name}`),
  )
  return [...new Set([...found, ...REQUIRED])].toSorted()
}

it('are all in the table', () => {
  expect(findDurations()).toEqual(Object.keys(DURATIONS).toSorted())
})

it('are in the glossary of docs/STYLE.md', () => {
  const glossary = read('docs/STYLE.md')
  const names = findDurations().map((option) => option.replace(/.* /, ''))
  expect(names.filter((name) => !glossary.includes(`\`${name}\``))).toEqual([])
})

it('are driven by tests that exist', () => {
  for (const [option, proof] of Object.entries(DURATIONS)) {
    if (typeof proof === 'string') continue
    expect(existsSync(`${root}${proof.file}`), option).toBe(true)
    const text = read(proof.file)
    expect(text.includes(proof.test), `${option}: ${proof.file} has a test "${proof.test}"`).toBe(true)
    expect(/[fF]akeClock\(|useFakeTimers\(/.test(text), `${option}: ${proof.file} uses a fake clock`).toBe(true)
  }
})
