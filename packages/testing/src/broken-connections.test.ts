import { createJsonSchemaValidator } from '@mcpx/json-schema'
import {
  type Channel,
  ConnectionError,
  createDuplex,
  type JsonSchemaValidator,
  type Requester,
  type Responder,
  type Session,
  type SessionState,
} from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { expectFailures } from './broken.fixture.ts'
import { channelContract, delay, jsonSchemaValidatorContract, requesterContract, sessionContract } from './index.ts'

const never = new Promise<never>(() => {})

/** Two ends of a channel in memory, both changed in the same way. */
const channels = (change: (end: Channel) => Partial<Channel>) => (): [Channel, Channel] => {
  const [a, b] = createChannelPair()
  return [
    { ...a, ...change(a) },
    { ...b, ...change(b) },
  ]
}

const quickChannels = (create: () => [Channel, Channel]) => channelContract(create, { capacity: 1_000, timeout: 1_000 })

expectFailures<[Channel, Channel]>('the contract of channels', quickChannels, {
  'carries messages of every kind in both directions, in order and unchanged': [
    channels((end) => ({ send: (message) => ('result' in message ? undefined : end.send(message)) })),
    'message 4 at the second end: expected {"jsonrpc":"2.0","id":0,"result":{}}, got {"jsonrpc":"2.0","id":"","error":{"code":-1,"message":"","data":[1]}}',
  ],
  'keeps messages that were sent before the other end called receive()': [
    () => {
      const [a, b] = createChannelPair()
      let isReading = false
      const receive: Channel['receive'] = (receiver) => {
        isReading = true
        return b.receive(receiver)
      }
      return [
        { ...a, send: (message) => (isReading ? a.send(message) : undefined) },
        { ...b, receive },
      ]
    },
    'the messages: expected [{"jsonrpc":"2.0","method":"n","params":{"n":1}},{"jsonrpc":"2.0","method":"n","params":{"n":2}}], got []',
  ],
  'carries an array of responses as one item': [
    channels((end) => ({
      async send(message) {
        for (const each of [message].flat()) await end.send(each)
      },
    })),
    'the items: expected [[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]], got [{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]',
  ],
  'carries a message of 2 MB': [
    channels((end) => ({
      send: (message) => (JSON.stringify(message).length > 65_536 ? undefined : end.send(message)),
    })),
    'the length of the received string: expected 1000000, got undefined',
  ],
  'reads nothing while the receiver is busy, and loses nothing': [
    channels((end) => ({ receive: (receiver) => end.receive((item) => void receiver(item)) })),
    'the messages before the promise of the receiver resolved: expected [0], got [0,1,2,3,4,5,6,7,8,9]',
  ],
  'makes a sender wait when nobody reads, until somebody does': [
    channels((end) => ({ send: (message) => void end.send(message) })),
    'send() to an end that nobody reads: expected a promise, got undefined 1000 times',
  ],
  'ends both ends when one is closed; closing again has no effect': [
    channels(() => ({ close: async () => {} })),
    'expected receive() of both ends to resolve after close() within 1000 ms, got nothing',
  ],
  'releases a sender that waits for room when it is closed': [
    channels((end) => ({ send: (message) => (end.send(message) === undefined ? undefined : never) })),
    'expected the promise of send() to settle after close() within 1000 ms, got nothing',
  ],
  'refuses a second call of receive() with a TypeError': [
    channels((end) => {
      let reading: Promise<void> | undefined
      return {
        receive(receiver) {
          if (reading !== undefined) return Promise.resolve()
          reading = end.receive(receiver)
          return reading
        },
      }
    }),
    'the second receive(): expected a TypeError, got undefined',
  ],
  'rejects receive() when the receiver throws': [
    channels((end) => ({
      receive: (receiver) =>
        end.receive((item) => {
          try {
            return receiver(item)
          } catch {
            return undefined
          }
        }),
    })),
    'expected receive() to reject within 1000 ms, got nothing',
  ],
})

type Connect = (responder: Responder) => Requester

/** Connects over a channel pair in memory, with a changed requester. */
const requester =
  (change: (requester: Requester) => Partial<Requester>): (() => Connect) =>
  () =>
  (responder) => {
    const [near, far] = createChannelPair()
    createDuplex(far, { responder })
    const duplex = createDuplex(near)
    return {
      request: (method, params, options) => duplex.request(method, params, options),
      notify: (method, params) => duplex.notify(method, params),
      close: () => duplex.close(),
      closed: duplex.closed,
      ...change(duplex),
    }
  }

const quickRequesters = (create: () => Connect) =>
  requesterContract((responder) => create()(responder), { timeout: 400 })

expectFailures<Connect>('the contract of requesters', quickRequesters, {
  'resolves to the result of a request': [
    requester((duplex) => ({ request: async (method, params) => ({ result: await duplex.request(method, params) }) })),
    'request("echo"): expected {"value":"é\\n"}, got {"result":{"value":"é\\n"}}',
  ],
  'rejects with an RpcError for an error response, with its code, message and data': [
    requester((duplex) => ({
      async request(method, params) {
        try {
          return await duplex.request(method, params)
        } catch (error) {
          throw new Error((error as Error).message)
        }
      },
    })),
    'request("fail"): expected an Error with {"name":"RpcError","code":-32602,"message":"params.a: expected string, got nothing","data":{"path":"a"}}, got {"name":"Error","message":"params.a: expected string, got nothing"}',
  ],
  'does not reveal the message of an error that the responder threw': [
    () => (responder) =>
      requester(() => ({}))()({
        async respond(message, exchange) {
          try {
            return await responder.respond(message, exchange)
          } catch (error) {
            if (!('id' in message)) return undefined
            return { jsonrpc: '2.0', id: message.id, error: { code: -32603, message: (error as Error).message } }
          }
        },
      }),
    'the message: expected no "secret", got "secret detail"',
  ],
  'sends requests concurrently and matches responses in any order': [
    requester((duplex) => {
      const waiting: ((result: unknown) => void)[] = []
      return {
        request(method, params) {
          void duplex.request(method, params).then((result) => waiting.shift()?.(result))
          return new Promise((resolve) => waiting.push(resolve))
        },
      }
    }),
    /^the results of 20 concurrent requests: expected \[\{"value":0\},\{"value":1\}.*, got \[\{"value":1\d\}/,
  ],
  'passes on the progress of a request in order, before its result': [
    requester((duplex) => ({
      request: (method, params, options) =>
        duplex.request(method, params, {
          ...options,
          onNotification: (notification) => void delay(50).then(() => options?.onNotification?.(notification)),
        }),
    })),
    'the notifications and the result: expected [1,2,3,4,5,"done"], got ["done"]',
  ],
  'cancels a request when its signal fires, also at the responder if the transport supports this': [
    requester((duplex) => ({ request: (method, params) => duplex.request(method, params) })),
    'expected the cancelled request to reject within 400 ms, got nothing',
  ],
  'does not send a request whose signal has fired already': [
    requester((duplex) => ({
      async request(method, params) {
        await duplex.request(method, params)
        throw new ConnectionError('cancelled', 'The request was cancelled')
      },
    })),
    'whether the responder was called: expected false, got true',
  ],
  'rejects a request without a response after its timeout, and stays usable': [
    requester((duplex) => ({ request: (method, params) => duplex.request(method, params) })),
    'a request of 200 ms with a timeout of 30 ms: expected an Error with {"name":"ConnectionError","reason":"timeout"}, got {}',
  ],
  'sends notifications in order': [
    requester((duplex) => ({ notify: (method, params) => void delay(20).then(() => duplex.notify(method, params)) })),
    'the notifications that were received before a later request was answered: expected [1,2,3], got []',
  ],
  'rejects waiting and later requests when it is closed': [
    requester((duplex) => ({ request: (method, params) => duplex.request(method, params).catch(() => never) })),
    'expected the waiting requests to reject within 400 ms, got nothing',
  ],
})

/** A session whose record is a plain object. */
const session = (id: string, update: (session: { state: SessionState }) => Session['update']) => (): Session => {
  const record = { state: {} as SessionState }
  return {
    id,
    get state() {
      return record.state
    },
    update: update(record),
    request: () => never,
  }
}

const updateInPlace = (record: { state: SessionState }): Session['update'] => {
  return (change) => void change(record.state)
}

expectFailures<Session>('the contract of sessions', sessionContract, {
  'has an id of visible ASCII characters and an empty record': [
    session('a b', updateInPlace),
    'id: expected visible ASCII characters, got "a b"',
  ],
  'shows an update in its state and keeps earlier ones': [
    session('a', (record) => (change) => {
      record.state = {}
      change(record.state)
    }),
    'state after two updates: expected {"initialized":true,"subscriptions":["x:1"]}, got {"subscriptions":["x:1"]}',
  ],
  'does not change a state that was read before an update': [
    session('a', updateInPlace),
    'the state that was read before the update: expected {"subscriptions":["x:1"]}, got {"subscriptions":["x:1","x:2"]}',
  ],
  'rejects an update whose callback throws, and keeps the record as it was': [
    session('a', updateInPlace),
    'state: expected {}, got {"logLevel":"debug"}',
  ],
  'loses none of several concurrent updates': [
    session('a', (record) => async (change) => {
      const state = structuredClone(record.state)
      await delay(1)
      change(state)
      record.state = state
    }),
    'the subscriptions: expected ["x:1","x:2","x:3"], got ["x:3"]',
  ],
})

const validator = (change: (real: JsonSchemaValidator) => JsonSchemaValidator['compile']) => () => ({
  compile: change(createJsonSchemaValidator()),
})

/** Accepts every schema and every value. */
const acceptEverything = validator(() => () => () => ({ valid: true }))

expectFailures<JsonSchemaValidator>('the contract of JSON Schema validators', jsonSchemaValidatorContract, {
  'accepts a valid value each time': [
    validator((real) => (schema) => {
      let calls = 0
      const validate = real.compile(schema)
      return (value) => (++calls === 1 ? validate(value) : { valid: false, problems: [] })
    }),
    'verdict number 2: expected {"valid":true}, got {"valid":false,"problems":[]}',
  ],
  'refuses invalid values and names the place of the problem': [
    validator(() => () => () => ({ valid: false, problems: [{ path: 'arguments', message: 'is invalid' }] })),
    'the verdict on {}: expected a problem that names name, got {"valid":false,"problems":[{"path":"arguments","message":"is invalid"}]}',
  ],
  'does not repeat values in problems': [
    validator(() => () => (value) => ({
      valid: false,
      problems: [{ path: 'value', message: `is wrong: ${JSON.stringify(value)}` }],
    })),
    /^the verdict: expected no "hunter2", got \{"valid":false,"problems":\[.*hunter2/,
  ],
  'supports the dialects 2020-12 and draft-07, and names one that it does not support': [
    acceptEverything,
    'compile() of a draft-04 schema: expected an Error, got a function',
  ],
  'follows references within the schema, and throws for others': [
    acceptEverything,
    'valid of a string and a number: expected [true,false], got [true,true]',
  ],
  'throws for an invalid schema, and ends for an infinite one': [
    acceptEverything,
    'compile({"type":5}): expected an Error, got a function',
  ],
  'does not change a schema, which may be frozen': [
    validator((real) => (schema) => real.compile(Object.assign(schema as object, { $id: 'https://example.com' }))),
    'Cannot add property $id, object is not extensible',
  ],
})
