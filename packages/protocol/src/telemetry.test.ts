import { describe, expect, it } from 'vitest'
import { RpcError } from './errors.ts'
import { errorMessage, resultMessage } from './messages.ts'
import { type ObservedMessage, type Outcome, type Telemetry, TelemetryReporter, withMembers } from './telemetry.ts'

const message: ObservedMessage = {
  side: 'server',
  method: 'tools/call',
  params: { name: 'add', _meta: { traceparent: 'old', keep: 1 } },
  isRequest: true,
  id: 7,
  revision: '2026-07-28',
  sessionId: undefined,
  network: undefined,
}

/** A reporter, with what its observer was told and the errors that it caused. */
function reporting(telemetry: Telemetry) {
  const problems: string[] = []
  return { problems, reporter: new TelemetryReporter(telemetry, (problem) => void problems.push(problem.message)) }
}

const live = { signal: new AbortController().signal }

describe('a reporter', () => {
  it('runs the handler within the observation and reports its response once', async () => {
    const told: unknown[] = []
    const { reporter, problems } = reporting({
      onReceive: ({ method }) => ({
        run(run) {
          told.push(`before ${method}`)
          return run()
        },
        end: (outcome) => void told.push(outcome),
      }),
    })
    const response = resultMessage(7, { content: [] })
    const handled = reporter.receive(message, live, (running) => {
      told.push('handler')
      return Promise.resolve(response).finally(() => running.end({ result: { early: true } }))
    })
    expect(await handled).toBe(response)
    expect(told).toEqual(['before tools/call', 'handler', { result: { early: true } }])
    expect(problems).toEqual([])
  })

  it('reports the errors of responses, and cancelled requests as such', async () => {
    const ends: Outcome[] = []
    const { reporter } = reporting({ onReceive: () => ({ end: (outcome) => void ends.push(outcome) }) })
    const failed = errorMessage(7, new RpcError(-32602, 'No'))
    await reporter.receive(message, live, () => failed)
    await reporter.receive(message, { signal: AbortSignal.abort() }, () => failed)
    await reporter.receive(message, { signal: AbortSignal.abort() }, () => resultMessage(7, { content: [] }))
    expect(ends[0]?.error).toMatchObject({ code: -32602, message: 'No' })
    expect(ends[1]?.error).toMatchObject({ reason: 'cancelled' })
    expect(ends[2]?.result).toEqual({ content: [] })
  })

  it('adds the metadata of the observation to what is sent, and passes the id and the error on', async () => {
    const told: unknown[] = []
    const { reporter } = reporting({
      onSend: (_, during) => ({
        meta: { traceparent: 'new' },
        onId: (id) => void told.push(id),
        end: ({ error }) => void told.push(error, during),
      }),
    })
    const failure = new RpcError(-32603, 'broken')
    const sending = reporter.send(message, undefined, async (params, { onId }) => {
      expect(params).toEqual({ name: 'add', _meta: { traceparent: 'new', keep: 1 } })
      onId(3)
      throw failure
    })
    await expect(sending).rejects.toBe(failure)
    expect(told).toEqual([3, failure, undefined])
    expect(message.params).toEqual({ name: 'add', _meta: { traceparent: 'old', keep: 1 } })
  })

  it.each<[string, Telemetry]>([
    [
      'at the beginning',
      {
        onReceive: () => {
          throw new Error('x')
        },
      },
    ],
    [
      'before the handler runs',
      {
        onReceive: () => ({
          run() {
            throw new Error('x')
          },
        }),
      },
    ],
    [
      'after the handler has begun',
      {
        onReceive: () => ({
          run(run) {
            run()
            throw new Error('x')
          },
        }),
      },
    ],
    [
      'at the end',
      {
        onReceive: () => ({
          end() {
            throw new Error('x')
          },
        }),
      },
    ],
  ])('runs the handler once and warns when the observer fails %s', async (_, telemetry) => {
    const { reporter, problems } = reporting(telemetry)
    let count = 0
    const response = await reporter.receive(message, live, () => {
      count += 1
      return resultMessage(7, {})
    })
    expect(response).toEqual(resultMessage(7, {}))
    expect(count).toBe(1)
    expect(problems).toEqual(['telemetry failed: x'])
  })

  it('calls nothing of an observer that has no members', async () => {
    const { reporter, problems } = reporting({})
    expect(await reporter.work({ kind: 'call', method: 'tools/call', params: {} }, () => 'done')).toBe('done')
    reporter.endSession({ side: 'client', revision: undefined, network: undefined, duration: 1, error: undefined })
    expect(problems).toEqual([])
  })
})

describe('an object with other members', () => {
  it('keeps the rest of the target, also getters and methods with private members', () => {
    class Target {
      #count = 1
      get count() {
        return this.#count
      }
      add() {
        this.#count += 1
        return this.#count
      }
      name = 'a'
    }
    const target = new Target()
    const other = withMembers(target, { name: 'b' })
    expect([other.name, other.add(), other.count, target.name, 'add' in other]).toEqual(['b', 2, 2, 'a', true])
  })
})
