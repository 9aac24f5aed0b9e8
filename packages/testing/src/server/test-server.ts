/** Runs a test with a client that is connected to a server, in all requested eras and over all requested transports. */

import { type Client, type ClientOptions, connect } from '@mcpx/client'
import {
  type Awaitable,
  type Connector,
  type Era,
  type JsonObject,
  kindOf,
  type Responder,
  type Revision,
  refuseUnknownOption,
} from '@mcpx/protocol'
import type { AskedQuestion, ScriptedUser } from './answers.ts'
import { observeConnector, toConnector } from './observe.ts'

/** A message that a server sent during a test: progress, a log message or a change. */
export interface Report {
  /** The method of the notification, such as `notifications/progress`. */
  readonly method: string
  /** Its parameters. */
  readonly params: JsonObject
}

/** The argument of a test, which runs once per era and transport. */
export interface ServerTest<Server> {
  /** A client that is connected to the server. It is closed when the test ends. */
  readonly client: Client<Server>
  /** The server. */
  readonly server: Server
  /** The era or revision of the client, as in the option `eras`. */
  readonly era: Era | Revision
  /** The name of the transport. */
  readonly transport: string
  /** The questions that the server has asked, if the test has `answers`. */
  readonly asked: readonly AskedQuestion[]
  /** The notifications of the server so far: progress, log messages and changes. */
  readonly reports: readonly Report[]
  /** The warnings of the client so far, for example about invalid messages of the server. */
  readonly warnings: readonly Error[]
}

/** Options of `testServer`. */
export interface ServerTestOptions<Server> {
  /** The eras, or revisions, that the test runs in. Default: both eras. */
  readonly eras?: readonly (Era | Revision)[] | undefined
  /**
   * The transports that the test runs over, by name. Each is a function that returns the connector for the server, or the
   * server itself, which is called in the same process.
   * Default: a connection in the same process.
   */
  readonly transports?: Readonly<Record<string, (server: Server) => Awaitable<Connector | Responder>>> | undefined
  /**
   * The user and the model who answer the server. The test fails if a question has no scripted answer, or if an answer is
   * not used. Default: the client does not support input requests.
   */
  readonly answers?: ScriptedUser | undefined
  /** Further options of the client. */
  readonly client?: Omit<ClientOptions, 'era' | 'onWarning'> | undefined
}

const OPTION_NAMES: readonly (keyof ServerTestOptions<unknown>)[] = ['eras', 'transports', 'answers', 'client']

/** A server, or a function that creates one for each run of the test. */
export type TestedServer<Server extends Responder> = Server | (() => Server | PromiseLike<Server>)

/**
 * Runs a test with a client of the server: once in each era, over each transport. Works with any test runner. The error of
 * a failed test says in which era and over which transport it failed.
 *
 * ```ts
 * test('books a seat', () =>
 *   testServer(server, { answers: answers({ seat: { row: 7 } }) }, async ({ client }) => {
 *     expect(await client.callTool('book', { to: 'Oslo' })).toHaveText('Row 7')
 *   }))
 * ```
 *
 * @throws the error of the test, with the era and the transport in its message
 */
export async function testServer<Server extends Responder>(
  server: TestedServer<Server>,
  ...rest: TestArguments<Server>
): Promise<void> {
  const [options, body] = readArguments('testServer', rest)
  for (const place of placesOf('testServer', options)) {
    try {
      await runTest(server, place, options, body)
    } catch (error) {
      throw withPrefix(error, `${nameOf(place)}: `)
    }
  }
}

/** Registers a test at a test runner, such as `test` of Vitest, `node:test`, Bun or Deno. */
export type RegisterTest = (name: string, run: () => Promise<void>) => unknown

/** Registers the tests of a server. */
export type ServerTestFunction<Server> = (name: string, ...rest: TestArguments<Server>) => void

/**
 * Returns a function that registers one test per era and transport. Their names end with both, such as
 * `books a seat (legacy over http)`.
 *
 * ```ts
 * import { test as register } from 'node:test'
 *
 * const test = createTest(register, server)
 *
 * test('books a seat', { answers: answers({ seat: { row: 7 } }) }, async ({ client }) => {
 *   verify(await client.callTool('book', { to: 'Oslo' })).toHaveText('Row 7')
 * })
 * ```
 *
 * @param options the options of all tests; the options of one test replace them
 */
export function createTest<Server extends Responder>(
  register: RegisterTest,
  server: TestedServer<Server>,
  options: ServerTestOptions<Server> = {},
): ServerTestFunction<Server> {
  if (typeof register !== 'function') {
    throw new TypeError(
      `createTest: expected the function of a test runner that registers a test, got ${kindOf(register)}`,
    )
  }
  placesOf('createTest', options)
  return (name, ...rest) => {
    const [own, body] = readArguments(name, rest)
    const places = placesOf(name, { ...options, ...own })
    for (const place of places) {
      register(`${name} (${nameOf(place)})`, () => runTest(server, place, { ...options, ...own }, body))
    }
  }
}

type TestArguments<Server> =
  | [body: (test: ServerTest<Server>) => unknown]
  | [options: ServerTestOptions<Server>, body: (test: ServerTest<Server>) => unknown]

/** Returns the options and the body of a test. */
function readArguments<Server>(
  caller: string,
  rest: TestArguments<Server>,
): [options: ServerTestOptions<Server>, body: (test: ServerTest<Server>) => unknown] {
  const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest
  if (typeof body === 'function') return [options, body]
  throw new TypeError(`${caller}: expected a function as the test, got ${kindOf(body)}`)
}

/** The era and the transport of one run. */
interface Place<Server> extends Pick<ServerTest<Server>, 'era' | 'transport'> {
  readonly createConnector: (server: Server) => Awaitable<Connector | Responder>
}

function nameOf({ era, transport }: Place<never>): string {
  return `${era} over ${transport}`
}

function placesOf<Server extends Responder>(
  caller: string,
  options: ServerTestOptions<Server>,
): readonly Place<Server>[] {
  refuseUnknownOption(caller, options, OPTION_NAMES)
  const { eras = ['modern', 'legacy'], transports = { memory: (server) => server }, answers } = options
  if (!Array.isArray(eras)) {
    throw new TypeError(`${caller}, eras: expected an array such as ['modern'], got ${kindOf(eras)}`)
  }
  if (answers !== undefined && typeof answers?.reset !== 'function') {
    throw new TypeError(`${caller}, answers: expected the result of answers(script), got ${kindOf(answers)}`)
  }
  if (eras.length === 0) throw new TypeError(`${caller}, eras: expected at least one era, got none`)
  if (Object.keys(transports).length === 0) {
    throw new TypeError(`${caller}, transports: expected at least one transport, got none`)
  }
  for (const [name, createConnector] of Object.entries(transports)) {
    if (typeof createConnector === 'function') continue
    throw new TypeError(
      `${caller}, transports.${name}: expected a function that returns a connector, got ${kindOf(createConnector)}`,
    )
  }
  return Object.entries(transports).flatMap(([transport, createConnector]) =>
    eras.map((era) => ({ era, transport, createConnector })),
  )
}

async function runTest<Server extends Responder>(
  tested: TestedServer<Server>,
  { era, transport, createConnector }: Place<Server>,
  options: ServerTestOptions<Server>,
  body: (test: ServerTest<Server>) => unknown,
): Promise<void> {
  const server = typeof tested === 'function' ? await tested() : tested
  const connector = toConnector(`${transport}, the transport`, await createConnector(server))
  try {
    await runWithClient(connector, era, options, (run) => body({ ...run, server, era, transport }))
  } catch (error) {
    throw withSeed(error, connector)
  }
}

async function runWithClient<Server>(
  connector: Connector,
  era: Era | Revision,
  { answers: user, client: clientOptions }: ServerTestOptions<Server>,
  body: (run: Pick<ServerTest<Server>, 'client' | 'asked' | 'reports' | 'warnings'>) => unknown,
): Promise<void> {
  user?.reset()
  const reports: Report[] = []
  const warnings: Error[] = []
  const observed = observeConnector(connector, (step) => {
    if (step.from === 'server' && 'method' in step && !('question' in step)) {
      reports.push({ method: step.method, params: step.params ?? {} })
    }
  })
  const client = (await connect(observed, {
    ...user?.callbacks,
    ...clientOptions,
    era,
    onWarning: (warning) => void warnings.push(warning),
  })) as Client<Server>
  try {
    await body({ client, asked: user?.asked ?? [], reports, warnings })
  } catch (error) {
    // Report a question without an answer first, because it is the cause of later failures.
    throw user?.problems[0] ?? error
  } finally {
    await client.close()
  }
  if (user?.problems[0] !== undefined) throw user.problems[0]
  if (user !== undefined && user.unused.length > 0) {
    throw new Error(`answers: expected questions for ${user.unused.join(', ')}, got none`)
  }
}

/** Adds the seed of a connector of `faults` to the message of an error, so that the run can be repeated. */
function withSeed(error: unknown, connector: Connector & { readonly seed?: unknown }): unknown {
  return connector.seed === undefined ? error : withPrefix(error, `faults with seed ${connector.seed}: `)
}

/**
 * Adds a prefix to the message of an error, and to its stack, which some test runners print instead. Returns the same
 * object, so that test runners can show its differences. An error that cannot be changed becomes the cause of a new one.
 */
function withPrefix(error: unknown, prefix: string): unknown {
  if (!(error instanceof Error)) return new Error(`${prefix}${String(error)}`, { cause: error })
  const { message, stack } = error
  const prefixed = `${prefix}${message}`
  try {
    error.message = prefixed
    if (stack !== undefined) error.stack = stack.replace(message, () => prefixed)
    return error
  } catch {
    // The message of a `DOMException`, such as the reason of `AbortSignal.timeout`, is read-only.
    return new Error(prefixed, { cause: error })
  }
}
