/** The matchers and the tests per era with the test runner of Bun. Started by `test-runners.test.ts`. */
import { expect, test as register } from 'bun:test'
import { type Assertions, answers, createTest, matchers } from '@mcpx/testing/server'
import { checkPassing, failing } from './assertions.ts'
import { server } from './travel.ts'

declare module 'bun:test' {
  interface Matchers extends Assertions {}
}

expect.extend(matchers)

const test = createTest(register, server)
test('passes', { answers: answers({ seat: { row: 7 } }) }, (run) => checkPassing(expect, run))
for (const [name, check] of Object.entries(failing)) test(name, { eras: ['modern'] }, (run) => check(expect, run))
