/** Calls tools as typed functions. Lines marked as errors do not compile, which `npm test` checks. `npm start` */
import { strict as assert } from 'node:assert'
import { connect, ToolCallError } from '@mcpx/client'
import { server, type Weather } from './server.ts'

// Connects in memory, as in a test. Over HTTP it is connect<Weather>(http(url)). The type comes from the server's code or
// from a declaration, and costs nothing at run time.
await using weather = await connect<Weather>(server)

const { names } = await weather.tools.cities()
const [first = '', second = ''] = names
assert.deepEqual(names, ['Oslo', 'Bergen'])

// Arguments and results have the types of the schemas: `sky` is 'clear' | 'cloudy' | 'rain', not just a string.
const { sky, celsius } = await weather.tools.now({ city: first })
const icon: string = { clear: '☀', cloudy: '☁', rain: '☂' }[sky]
console.log(`${first}: ${celsius} °C ${icon}`)
assert.equal(icon, '☀')

// Arguments with a default may be omitted.
const { warmest, by } = await weather.tools.compare({ cities: [first, second] })
console.log(`${warmest} is warmer by ${by}`)
assert.equal(by, 5)

// The server validates arguments too.
// @ts-expect-error: the city is missing
await assert.rejects(weather.tools.now({}), { name: 'ToolCallError', message: /arguments\.city/ })
// @ts-expect-error: there is no such unit
await assert.rejects(weather.tools.compare({ cities: [first, second], unit: 'K' }), /arguments\.unit/)
// @ts-expect-error: there is no such tool
await assert.rejects(weather.tools.tomorrow({ city: first }), { name: 'RpcError', code: -32602 })

// A failed tool throws its message; callTool returns the whole result instead.
const failure = await weather.tools.now({ city: 'Atlantis' }).catch((error: unknown) => error)
assert.ok(failure instanceof ToolCallError && failure.message === 'There is no weather in Atlantis.')
const { isError } = await weather.callTool('now', { city: 'Atlantis' })
assert.equal(isError, true)
console.log(`failed: ${failure.message}`)
console.log('ok')
