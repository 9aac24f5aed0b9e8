/** The version matrix of both eras. Tests of the modern era alone are in methods-modern.test.ts. */
import { describe, expect, it } from 'vitest'
import { stripFor, stripParamsFor } from './downgrade.ts'
import {
  type ClientNotifications,
  type ClientRequests,
  clientRequestParams,
  clientRequestResult,
  inputResponse,
  notificationParams,
  type ServerNotifications,
  type ServerRequests,
  serverRequestParams,
  serverRequestResult,
} from './method-schemas.ts'
import {
  capabilityFor,
  eraOf,
  eraTables,
  hasCapability,
  type MethodKind,
  methodEntry,
  REVISIONS,
  type Revision,
} from './methods.ts'
import { check, type Schema } from './validate.ts'

/** A line per name and a column per revision, oldest first: the sender (c client, s server, b both), or `-` if it does not
 * exist; for capabilities `x` if it exists.
 */
function readMatrix(text: string): [name: string, cells: string[]][] {
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map(([name = '', ...cells]) => [name, cells])
}

const letters = { client: 'c', server: 's', both: 'b' } as const

const requests = readMatrix(`
  initialize                  c c c c -
  ping                        b b b b -
  server/discover             - - - - c
  tools/list                  c c c c c
  tools/call                  c c c c c
  resources/list              c c c c c
  resources/templates/list    c c c c c
  resources/read              c c c c c
  resources/subscribe         c c c c -
  resources/unsubscribe       c c c c -
  prompts/list                c c c c c
  prompts/get                 c c c c c
  completion/complete         c c c c c
  logging/setLevel            c c c c -
  subscriptions/listen        - - - - c
  sampling/createMessage      s s s s -
  roots/list                  s s s s -
  elicitation/create          - - s s -
  tasks/get                   - - - b -
  tasks/cancel                - - - b -
  tasks/result                - - - b -
  tasks/list                  - - - b -
`)

const notifications = readMatrix(`
  notifications/initialized                 c c c c -
  notifications/cancelled                   b b b b b
  notifications/progress                    b b b b s
  notifications/message                     s s s s s
  notifications/tools/list_changed          s s s s s
  notifications/prompts/list_changed        s s s s s
  notifications/resources/list_changed      s s s s s
  notifications/resources/updated           s s s s s
  notifications/roots/list_changed          c c c c -
  notifications/elicitation/complete        - - - s -
  notifications/tasks/status                - - - b -
  notifications/subscriptions/acknowledged  - - - - s
`)

const inputRequests = readMatrix(`
  sampling/createMessage  - - - - s
  elicitation/create      - - - - s
  roots/list              - - - - s
`)

const clientCapabilities = readMatrix(`
  roots                                  x x x x x
  roots.listChanged                      x x x x -
  sampling                               x x x x x
  sampling.context                       - - - x x
  sampling.tools                         - - - x x
  elicitation                            - - x x x
  elicitation.form                       - - - x x
  elicitation.url                        - - - x x
  tasks                                  - - - x -
  tasks.list                             - - - x -
  tasks.cancel                           - - - x -
  tasks.requests.sampling.createMessage  - - - x -
  tasks.requests.elicitation.create      - - - x -
  experimental                           x x x x x
  extensions                             - - - x x
`)

const serverCapabilities = readMatrix(`
  logging                    x x x x x
  completions                - x x x x
  prompts                    x x x x x
  prompts.listChanged        x x x x x
  resources                  x x x x x
  resources.subscribe        x x x x x
  resources.listChanged      x x x x x
  tools                      x x x x x
  tools.listChanged          x x x x x
  tasks                      - - - x -
  tasks.list                 - - - x -
  tasks.cancel               - - - x -
  tasks.requests.tools.call  - - - x -
  experimental               x x x x x
  extensions                 - - - x x
`)

function cellsOf(matrix: [string, string[]][]): [name: string, revision: Revision, cell: string][] {
  return matrix.flatMap(([name, cells]) =>
    cells.map((cell, index) => [name, REVISIONS[index] as Revision, cell] as const),
  )
}

const requestParams = (revision: Revision, method: string) =>
  clientRequestParams(revision, method) ?? serverRequestParams(revision, method)
const requestResult = (revision: Revision, method: string) =>
  clientRequestResult(revision, method) ?? serverRequestResult(revision, method)

function fits(schema: Schema<unknown> | undefined, value: unknown): boolean {
  return schema !== undefined && check(schema, value).problem === undefined
}

describe('the era tables', () => {
  it.each([
    ['request', requests, 22],
    ['notification', notifications, 12],
    ['inputRequest', inputRequests, 3],
  ] as const)('say of each %s in which revision it exists and who sends it', (kind, matrix, count) => {
    expect(matrix).toHaveLength(count)
    for (const [name, revision, cell] of cellsOf(matrix)) {
      const entry = methodEntry(revision, name, kind)
      expect([name, revision, entry ? letters[entry.from] : '-']).toEqual([name, revision, cell])
    }
  })

  it.each([
    ['client', clientCapabilities],
    ['server', serverCapabilities],
  ] as const)('say in which revision each capability of a %s exists', (side, matrix) => {
    for (const [name, revision, cell] of cellsOf(matrix)) {
      expect([name, revision, hasCapability(revision, side, name) ? 'x' : '-']).toEqual([name, revision, cell])
    }
  })

  it('contain nothing else', () => {
    for (const revision of REVISIONS) {
      const table = eraTables[eraOf(revision)]
      expect(namesOf(requests)).toEqual(expect.arrayContaining(Object.keys(table.requests)))
      expect(namesOf(notifications)).toEqual(expect.arrayContaining(Object.keys(table.notifications)))
      expect(namesOf(inputRequests)).toEqual(expect.arrayContaining(Object.keys(table.inputRequests)))
      expect(namesOf(clientCapabilities)).toEqual(expect.arrayContaining(Object.keys(table.capabilities.client)))
      expect(namesOf(serverCapabilities)).toEqual(expect.arrayContaining(Object.keys(table.capabilities.server)))
    }
  })

  it('name only capabilities that the declaring side has in that era', () => {
    for (const revision of REVISIONS) {
      const table = eraTables[eraOf(revision)]
      for (const [name, entry] of Object.entries(table.requests)) {
        const side = entry.from === 'server' ? 'client' : 'server'
        if (entry.needs) expect(table.capabilities[side], name).toHaveProperty([entry.needs])
      }
      for (const [name, entry] of Object.entries(table.notifications)) {
        const side = entry.from === 'client' ? 'client' : 'server'
        if (entry.needs) expect(table.capabilities[side], name).toHaveProperty([entry.needs])
      }
    }
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''])(
    'do not contain a method called %j',
    (name) => {
      for (const revision of REVISIONS) {
        for (const kind of ['request', 'notification', 'inputRequest'] as MethodKind[]) {
          expect(methodEntry(revision, name, kind)).toBeUndefined()
        }
        expect(requestParams(revision, name)).toBeUndefined()
        expect(requestResult(revision, name)).toBeUndefined()
        expect(notificationParams(revision, name)).toBeUndefined()
        expect(inputResponse(revision, name)).toBeUndefined()
        expect(hasCapability(revision, 'server', name)).toBe(false)
        const value = { a: 1 }
        expect(stripFor(revision, name, value)).toBe(value)
        expect(stripParamsFor(revision, name, value)).toBe(value)
      }
    },
  )
})

describe('a capability', () => {
  it('is needed from the side that answers a request', () => {
    expect(capabilityFor('2025-11-25', 'resources/subscribe', 'request')).toBe('resources.subscribe')
    expect(capabilityFor('2025-06-18', 'elicitation/create', 'request')).toBe('elicitation')
    expect(capabilityFor('2026-07-28', 'elicitation/create', 'inputRequest')).toBe('elicitation')
    expect(capabilityFor('2025-11-25', 'tasks/list', 'request')).toBe('tasks.list')
  })

  it('is needed from the side that sends a notification', () => {
    expect(capabilityFor('2025-11-25', 'notifications/roots/list_changed', 'notification')).toBe('roots.listChanged')
    expect(capabilityFor('2026-07-28', 'notifications/resources/updated', 'notification')).toBe('resources.subscribe')
  })

  it('is not needed where the revision has the method but not the capability', () => {
    expect(capabilityFor('2024-11-05', 'completion/complete', 'request')).toBeUndefined()
    expect(capabilityFor('2025-03-26', 'completion/complete', 'request')).toBe('completions')
    expect(capabilityFor('2025-11-25', 'ping', 'request')).toBeUndefined()
    expect(capabilityFor('2026-07-28', 'ping', 'request')).toBeUndefined()
  })
})

describe('the shapes of methods', () => {
  const kinds = [
    ['client', clientRequestParams, clientRequestResult, 'server'],
    ['server', serverRequestParams, serverRequestResult, 'client'],
  ] as const

  it.each(kinds)('exist for each request of the %s, and for no other', (_, params, result, other) => {
    for (const [name, revision, cell] of cellsOf(requests)) {
      const mayBeSent = cell !== '-' && cell !== letters[other]
      expect([name, revision, params(revision, name) !== undefined]).toEqual([name, revision, mayBeSent])
      expect([name, revision, result(revision, name) !== undefined]).toEqual([name, revision, mayBeSent])
    }
  })

  it('exist for each notification', () => {
    for (const [name, revision, cell] of cellsOf(notifications)) {
      expect([name, revision, notificationParams(revision, name) !== undefined]).toEqual([name, revision, cell !== '-'])
    }
  })

  it('exist for each input request', () => {
    for (const [name, revision, cell] of cellsOf(inputRequests)) {
      expect([name, revision, inputResponse(revision, name) !== undefined]).toEqual([name, revision, cell !== '-'])
    }
  })

  it('differ between eras if the messages differ', () => {
    const retry = { name: 'add', inputResponses: { a: 1 } }
    expect(fits(requestParams('2026-07-28', 'tools/call'), retry)).toBe(false)
    expect(fits(requestParams('2025-11-25', 'tools/call'), retry)).toBe(true)
    const task = { name: 'add', task: 1 }
    expect(fits(requestParams('2026-07-28', 'tools/call'), task)).toBe(true)
    expect(fits(requestParams('2025-11-25', 'tools/call'), task)).toBe(false)
  })

  it('have types with the same names', () => {
    const typedClient = {
      initialize: 1,
      ping: 1,
      'server/discover': 1,
      'tools/list': 1,
      'tools/call': 1,
      'resources/list': 1,
      'resources/templates/list': 1,
      'resources/read': 1,
      'resources/subscribe': 1,
      'resources/unsubscribe': 1,
      'prompts/list': 1,
      'prompts/get': 1,
      'completion/complete': 1,
      'logging/setLevel': 1,
      'subscriptions/listen': 1,
      'tasks/get': 1,
      'tasks/result': 1,
      'tasks/list': 1,
      'tasks/cancel': 1,
    } satisfies Record<keyof ClientRequests, 1>
    const typedServer = {
      ping: 1,
      'sampling/createMessage': 1,
      'elicitation/create': 1,
      'roots/list': 1,
      'tasks/get': 1,
      'tasks/result': 1,
      'tasks/list': 1,
      'tasks/cancel': 1,
    } satisfies Record<keyof ServerRequests, 1>
    const clientNotifications = {
      'notifications/initialized': 1,
      'notifications/cancelled': 1,
      'notifications/progress': 1,
      'notifications/roots/list_changed': 1,
      'notifications/tasks/status': 1,
    } satisfies Record<keyof ClientNotifications, 1>
    const serverNotifications = {
      'notifications/cancelled': 1,
      'notifications/progress': 1,
      'notifications/message': 1,
      'notifications/tools/list_changed': 1,
      'notifications/prompts/list_changed': 1,
      'notifications/resources/list_changed': 1,
      'notifications/resources/updated': 1,
      'notifications/elicitation/complete': 1,
      'notifications/tasks/status': 1,
      'notifications/subscriptions/acknowledged': 1,
    } satisfies Record<keyof ServerNotifications, 1>
    const sentBy = (letter: string, matrix = requests) =>
      namesOf(matrix.filter(([, cells]) => cells.some((cell) => cell === letter || cell === 'b'))).sort()
    expect(Object.keys(typedClient).sort()).toEqual(sentBy('c'))
    expect(Object.keys(typedServer).sort()).toEqual(sentBy('s'))
    expect(Object.keys(clientNotifications).sort()).toEqual(sentBy('c', notifications))
    expect(Object.keys(serverNotifications).sort()).toEqual(sentBy('s', notifications))
  })
})

function namesOf(matrix: [string, string[]][]): string[] {
  return matrix.map(([name]) => name)
}
