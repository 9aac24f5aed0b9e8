/** The matchers and the tests per era with Vitest. Started by `test-runners.test.ts`. */
import { answers, createTest } from '@mcpx/testing/server'
import '@mcpx/testing/vitest'
import { expect, test as register } from 'vitest'
import { checkPassing, failing } from './assertions.ts'
import { server } from './travel.ts'

const test = createTest(register, server)
test('passes', { answers: answers({ seat: { row: 7 } }) }, (run) => checkPassing(expect, run))
for (const [name, check] of Object.entries(failing)) test(name, { eras: ['modern'] }, (run) => check(expect, run))
