import { type Client, connect } from '@mcpx/client'
import type { CallToolResult, Change } from '@mcpx/protocol'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createEverything } from './everything.ts'
import { createArchive } from './features/archive.ts'
import { guardByKey } from './serving/guard.ts'

vi.setConfig({ testTimeout: 30_000 })

const answers: Record<string, unknown> = {
  name: 'Ada',
  confirm: true,
  color: 'red',
  row: 3,
  ok: true,
  colour: 'blue',
  context: 'c',
}

/** The arguments of the tools that require arguments. */
const toolArguments: Record<string, Record<string, unknown>> = {
  count: { to: 2 },
  test_sampling: { prompt: 'Hello' },
  test_elicitation: { message: 'Who are you?' },
  book: { to: 'Oslo' },
  json_schema_2020_12_tool: { name: 'Ada', email: 'ada@example.com' },
  add: { a: 1, b: 2 },
  test_x_mcp_header: { region: 'eu' },
  write_watched_resource: { text: 'new' },
  publish: { title: 'a poem', isPublic: false },
  greet: { name: 'Ada' },
  wave: { name: 'Ada' },
  slow_compute: { seconds: 0 },
  'thermometer.set': { celsius: 21 },
}

const KEY = 'a-key-that-was-drawn-at-random'

let stop: () => Promise<void>
let url: string
const changes: Change[] = []
const faults: string[] = []

beforeAll(async () => {
  const server = await createEverything({ onError: (error) => faults.push(String(error)) })
  const http = await serveHttp(server, { port: 0, authenticate: guardByKey(KEY), sessions: { retry: 50 } })
  url = http.url
  stop = () => http.close()
})
afterAll(() => stop())

function open(era: 'legacy' | 'modern', target = http(url)): Promise<Client> {
  return connect(target, {
    era,
    roots: [{ uri: 'file:///projects' }],
    onSample: () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'Paris' } }),
    onElicit: (request) => {
      if (request.mode === 'url') return { action: 'accept' }
      const known = Object.keys(request.schema.properties).filter((key) => key in answers)
      const content = Object.fromEntries(known.map((key) => [key, answers[key]]))
      if ('username' in request.schema.properties) Object.assign(content, { username: 'ada', email: 'ada@example.com' })
      return { action: 'accept', content: content as Record<string, string | number | boolean> }
    },
    onChange: (change) => changes.push(change),
  })
}

/** The tools that run only as tasks. */
const taskTools = ['failing_job', 'protocol_error_job', 'confirm_delete', 'multi_input']

function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : block.type)).join(' ')
}

describe.each(['legacy', 'modern'] as const)('the everything server in the %s era', (era) => {
  it('answers each tool call, and only the intended ones fail', async () => {
    await using client = await open(era)
    const failed: string[] = []
    for (const { name } of await client.listTools().all()) {
      if (['refuse', 'grown', 'read_calendar', 'scarce', ...taskTools].includes(name)) continue
      const result = await client.callTool(name, toolArguments[name])
      if (result.isError === true) failed.push(`${name}: ${textOf(result)}`)
    }
    expect(failed.sort()).toEqual([
      expect.stringMatching(/^break: The tool failed \(error \w+\)$/),
      expect.stringMatching(/^pay: The call of "pay" was not approved/),
      'test_error_handling: This tool intentionally returns an error for testing',
    ])
    expect(faults.at(-1)).toBe('Error: the password is hunter2')
    await expect(client.callTool('refuse')).rejects.toMatchObject({ code: -32602, data: { retry: 'tomorrow' } })
  })

  it('runs calls as tasks, if the revision has them', async () => {
    await using client = await open(era)
    const call = async (name: string, args = {}) => textOf(await client.callTool(name, args))
    expect(await call('slow_compute', { seconds: 0.4 })).toBe('answer: 42, after 0.4 s')
    expect(await call('print')).toBe(era === 'modern' ? 'Printed elsewhere.' : 'Printed here.')
    expect(await call('test_tool_with_task')).toBe('The work for Ada is done.')
    if (era === 'legacy') {
      expect(await call('confirm_delete', { filename: 'a.txt' })).toContain('runs only as a task')
      return
    }
    expect(await call('confirm_delete', { filename: 'a.txt' })).toBe('a.txt was deleted.')
    await expect(client.callTool('protocol_error_job')).rejects.toMatchObject({ code: -32603 })
    expect(await client.callTool('failing_job')).toMatchObject({ isError: true })
  })

  it('asks during calls, and runs steps once', async () => {
    await using client = await open(era)
    const receipt = async () => textOf(await client.callTool('book', { to: 'Oslo' }))
    const first = await receipt()
    expect(first).toMatch(/^Booked row 3 to Oslo, receipt \d+\.$/)
    expect(await receipt()).toBe(first.replace(/\d+\.$/, (number) => `${Number.parseInt(number, 10) + 1}.`))
    expect(textOf(await client.callTool('test_input_required_result_multi_round'))).toBe('Ada likes red.')
    expect(textOf(await client.callTool('sign_in'))).toBe('The user is on the way.')
    expect(textOf(await client.callTool('erase'))).toBe('Erased.')
    expect(textOf(await client.callTool('audit_log'))).toContain('tools/call erase ok')
  })

  it('lists and reads the resources of mounted servers', async () => {
    await using client = await open(era)
    const uris = (await client.listResources().all()).map(({ uri }) => uri)
    expect(uris).toContain('test://template/2/data')
    expect(uris.filter((uri) => uri.startsWith('library.'))).toHaveLength(25)
    expect(await client.readResource('library.book://25')).toMatchObject({ contents: [{ text: 'This is book 25.' }] })
    expect(await client.callTool('clock.now')).toMatchObject({ structuredContent: { iso: expect.any(String) } })
    for (const { name } of await client.listPrompts().all()) {
      const args = { arg1: 'a', arg2: 'b', resourceUri: 'test://it', city: 'Oslo' }
      expect((await client.getPrompt(name, args)).messages.length).toBeGreaterThan(0)
    }
  })

  it('notifies subscribers when a resource is written', async () => {
    await using client = await open(era)
    await client.subscribe('test://watched-resource')
    changes.length = 0
    await client.callTool('write_watched_resource', { text: era })
    await expect.poll(() => changes).toContainEqual({ kind: 'resource', uri: 'test://watched-resource' })
    expect(await client.readResource('test://watched-resource')).toMatchObject({ contents: [{ text: era }] })
  })

  it('notifies subscribers of a resource of a mounted hand-written server', async () => {
    await using client = await open(era)
    const [uri = ''] = (await client.listResources().all())
      .map((resource) => resource.uri)
      .filter((each) => each.startsWith('thermometer.'))
    await client.subscribe(uri)
    changes.length = 0
    await client.callTool('thermometer.set', { celsius: 23 })
    await expect.poll(() => changes).toContainEqual({ kind: 'resource', uri })
    expect(await client.readResource(uri)).toMatchObject({ contents: [{ text: '23 °C' }] })
    const ref = { type: 'ref/prompt', name: 'thermometer.judge' } as const
    const { completion } = await client.complete({ ref, argument: { name: 'city', value: 'O' } })
    expect(completion.values).toEqual(['Oslo'])
  })

  it('hides some tools from other users than admins, and lets others be called only by admins', async () => {
    await using anonymous = await open(era)
    await using admin = await open(era, http(url, { headers: { authorization: `Bearer ${KEY}` } }))
    const listNames = async (client: Client) => (await client.listTools().all()).map(({ name }) => name)
    const forAdmins = ['admin_report', 'restart']
    expect((await listNames(admin)).filter((name) => forAdmins.includes(name))).toEqual(forAdmins)
    expect((await listNames(anonymous)).filter((name) => forAdmins.includes(name))).toEqual([])
    expect(textOf(await admin.callTool('admin_report'))).toBe('All is well.')
    expect(textOf(await admin.callTool('desk.greet'))).toBe('Hello, guest.')
    await expect(anonymous.callTool('admin_report')).rejects.toMatchObject({ status: 401 })
    await expect(anonymous.callTool('restart')).rejects.toMatchObject({
      code: -32602,
      message: 'Unknown tool: "restart"',
    })
    await expect(anonymous.callTool('publish', { title: 'a poem', isPublic: true })).rejects.toMatchObject({
      status: 401,
    })
    await expect(
      open(era, http(url, { headers: { authorization: 'Bearer another-key-of-somebody' } })),
    ).rejects.toMatchObject({ status: 401 })
  })

  it('limits calls, reports plugin errors, combines input requests, and lists mounted resources', async () => {
    await using client = await open(era)
    const scarce = async () => (await client.callTool('scarce')).isError === true
    const refused: boolean[] = []
    for (let times = 0; times < 4; times += 1) refused.push(await scarce())
    expect(refused.at(-1)).toBe(true)
    expect(textOf(await client.callTool('plugin_problems')).split('\n')).toEqual([
      expect.stringContaining('"wave"'),
      expect.stringContaining('shout: JSON Schema, at #/type'),
      expect.stringMatching(/whisper: .*\(known are .*2020-12.* and .*draft-07/),
    ])
    expect(JSON.parse(textOf(await client.callTool('plan_trip')))).toEqual({
      row: 3,
      folders: ['file:///projects'],
      model: 'none',
      terms: 'accept',
    })
    expect((await client.listResources().all()).filter(({ uri }) => uri.startsWith('archive.'))).toHaveLength(25)
  })
})

it('sends users to a page by the error -32042, which clients of 2025-11-25 handle', async () => {
  await using legacy = await open('legacy')
  expect(textOf(await legacy.callTool('read_calendar'))).toBe('Lunch at noon.')
})

it('splits the lists of its archive into pages', async () => {
  await using client = await connect(createArchive())
  const pages: number[] = []
  for await (const page of client.listResources().pages()) pages.push(page.length)
  expect(pages).toEqual([10, 10, 5])
})
