/** Checks the deployment files of the guide for several machines: their syntax, and that their names fit together. */
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { parse as parseToml } from 'smol-toml'
import { expect, it, onTestFinished } from 'vitest'
import { parseAllDocuments, parse as parseYaml } from 'yaml'
import { blocksOf } from './blocks.ts'
import { pathOf } from './documents.ts'
import { runWorker, type Wrangler } from './run-worker.ts'

const blocks = [...blocksOf(pathOf('docs/guides/scaling.md')), ...blocksOf(pathOf('docs/guides/serving.md'))]
const fileNamed = (name: string): string => {
  const block = blocks.find(({ file }) => file === name)
  if (block === undefined) throw new Error(`scaling.md: expected a block with the file name ${name}`)
  return block.text
}

/** The environment variables that the node reads, and the port that it listens on by default. */
const node = fileNamed('node.mjs')
const variables = [...node.matchAll(/\b([A-Z][A-Z_]+)\b(?= = '|[ ,}])/g)].map(([, name]) => name)
const port = Number(/PORT = '(\d+)'/.exec(node)?.[1])
const dockerfile = blocks.find(({ language }) => language === 'dockerfile')?.text ?? ''

interface Service {
  readonly build?: string
  readonly image?: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly depends_on?: readonly string[]
  readonly deploy?: { readonly replicas: number }
}

it('Docker Compose starts three nodes with the variables that they read, and a proxy with its file', () => {
  const { services } = parseYaml(fileNamed('compose.yaml')) as { services: Record<string, Service> }
  expect(services.node).toMatchObject({ build: '.', command: ['node', 'node.mjs'], deploy: { replicas: 3 } })
  expect(dockerfile).toContain('COPY *.mjs ./')
  for (const name of Object.keys(services.node?.environment ?? {})) expect(variables).toContain(name)
  expect(new URL(services.node?.environment?.REDIS_URL ?? '').hostname).toBe('redis')
  for (const { depends_on = [], volumes = [] } of Object.values(services)) {
    for (const name of depends_on) expect(services).toHaveProperty(name)
    for (const volume of volumes) expect(fileNamed(volume.split(':')[0]?.replace('./', '') ?? '')).not.toBe('')
  }
})

it('nginx passes requests to the nodes without buffering', () => {
  const text = fileNamed('nginx.conf').replace(/#.*$/gm, '')
  const tokens = text.match(/"[^"]*"|[{};]|[^\s{};]+/g) ?? []
  let depth = 0
  const directive: string[] = []
  const directives: string[] = []
  for (const token of tokens) {
    if (token === '{') depth += 1
    if (token === '}') depth -= 1
    if (token === '}') expect(directive, 'a directive without a semicolon').toEqual([])
    if ('{};'.includes(token)) directives.push(directive.splice(0).join(' '))
    else directive.push(token)
    expect(depth).toBeGreaterThanOrEqual(0)
  }
  expect([depth, directive]).toEqual([0, []])
  expect(directives).toEqual(
    expect.arrayContaining([
      'events',
      'upstream nodes',
      `server node:${port}`,
      'proxy_pass http://nodes',
      'proxy_buffering off',
    ]),
  )
})

interface Manifest {
  readonly kind: string
  readonly spec: {
    readonly replicas?: number
    readonly selector: { readonly matchLabels?: object }
    readonly ports?: readonly { readonly targetPort: number }[]
    readonly template?: {
      readonly metadata: { readonly labels: object }
      readonly spec: {
        readonly terminationGracePeriodSeconds: number
        readonly containers: readonly {
          readonly command: readonly string[]
          readonly ports: readonly { readonly containerPort: number }[]
          readonly env: readonly { readonly name: string }[]
          readonly readinessProbe: { readonly tcpSocket: { readonly port: number } }
          readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } }
        }[]
      }
    }
  }
}

it('Kubernetes runs three nodes, whose labels, ports and variables fit together', () => {
  const [deployment, service] = parseAllDocuments(fileNamed('cluster.yaml')).map((each) => each.toJS() as Manifest)
  expect([deployment?.kind, service?.kind, deployment?.spec.replicas]).toEqual(['Deployment', 'Service', 3])
  const labels = deployment?.spec.template?.metadata.labels
  expect(deployment?.spec.selector.matchLabels).toEqual(labels)
  expect(service?.spec.selector).toEqual(labels)
  const pod = deployment?.spec.template?.spec
  const [container] = pod?.containers ?? []
  expect(container?.command).toEqual(['node', 'node.mjs'])
  for (const { name } of container?.env ?? []) expect(variables).toContain(name)
  const ports = [
    container?.ports[0]?.containerPort,
    container?.readinessProbe.tcpSocket.port,
    service?.spec.ports?.[0]?.targetPort,
  ]
  expect(ports).toEqual([port, port, port])
  const drain = Number(/drain\(([\d_]+)\)/.exec(node)?.[1]?.replace('_', '')) / 1_000
  expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan((container?.lifecycle.preStop.sleep.seconds ?? 0) + drain)
})

it('Fly.io runs three nodes with the variables and the port of the container', () => {
  const { env, http_service } = parseToml(fileNamed('fly.toml')) as {
    env: Record<string, string>
    http_service: Record<string, unknown>
  }
  for (const name of Object.keys(env)) expect(variables).toContain(name)
  expect(http_service).toMatchObject({ internal_port: port, auto_stop_machines: 'off', min_machines_running: 3 })
})

it('the Worker sends input requests to modern clients, and lists its tools to legacy clients', async () => {
  const wrangler = JSON.parse(fileNamed('wrangler.json')) as Wrangler
  const worker = fileNamed(wrangler.main).replaceAll('mcp.example.com', '127.0.0.1')
  const files = { [wrangler.main]: worker, 'orders.mjs': fileNamed('orders.mjs') }
  const { url, stop } = await runWorker(wrangler, files, { MCP_SECRET: 'the same 32 characters everywhere' })
  onTestFinished(stop)
  const onElicit = () => ({ action: 'accept', content: { sure: true } }) as const
  await using modern = await connect(http(url), { era: 'modern', onElicit })
  expect((await modern.callTool('cancel')).content).toEqual([{ type: 'text', text: 'cancelled' }])
  await using legacy = await connect(http(url), { era: 'legacy' })
  expect(await legacy.listTools().all()).toMatchObject([{ name: 'cancel' }])
})
