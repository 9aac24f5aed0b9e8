/** The matchers and the tests per era with the test runner of Node. Started by `test-runners.test.ts`. */
import { test as register } from 'node:test'
import { answers, createTest, verify } from '@mcpx/testing/server'
import { checkPassing, failing } from './assertions.ts'
import { server } from './travel.ts'

const test = createTest(register, server)
test('passes', { answers: answers({ seat: { row: 7 } }) }, (run) => checkPassing(verify, run))
for (const [name, check] of Object.entries(failing)) test(name, { eras: ['modern'] }, (run) => check(verify, run))
