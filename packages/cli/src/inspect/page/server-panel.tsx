/** The tab of the server: its facts, the connection, the level of log messages, and the roots. */

import type { LoggingLevel } from '@mcpx/client'
import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import { plainText } from '../../output/plain-text.ts'
import type { ExplainedError } from '../api.ts'
import { Button, Empty, ErrorCard, formatDuration, LongText } from './elements.tsx'
import { useKept, usePageState } from './hooks.ts'
import { JsonTree } from './json-tree.tsx'
import { SafeLink } from './markdown.tsx'
import { call, explainedOf } from './store.ts'

const ERAS = [
  ['', 'as the command says'],
  ['auto', 'auto: detect the era'],
  ['modern', 'modern: 2026-07-28'],
  ['legacy', 'legacy: up to 2025-11-25'],
] as const
const LEVELS: readonly LoggingLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]

/** The server and the connection to it. */
export function ServerPanel(): VNode {
  const { connection, label } = usePageState()
  return (
    <div class="server">
      <section class="card">
        <h2>Connection</h2>
        <dl class="facts">
          <Fact name="Server">{plainText(label)}</Fact>
          {connection.status === 'connected' && (
            <>
              <Fact name="Era">{connection.era}</Fact>
              <Fact name="Revision">{connection.revision}</Fact>
              <Fact name="Connected in">{formatDuration(connection.duration)}</Fact>
            </>
          )}
        </dl>
        <Reconnect />
      </section>
      {connection.status === 'connected' ? (
        <Facts />
      ) : (
        <Empty title="Not connected">The facts about the server are shown here.</Empty>
      )}
      <LogLevel />
      <Roots />
    </div>
  )
}

function Facts(): VNode | null {
  const { connection } = usePageState()
  if (connection.status !== 'connected') return null
  const { info, capabilities, instructions } = connection.server
  return (
    <>
      <section class="card">
        <h2>Server</h2>
        {info === undefined ? (
          <p class="note">The server does not say its name.</p>
        ) : (
          <dl class="facts">
            <Fact name="Name">{plainText(info.name)}</Fact>
            {info.title && <Fact name="Title">{plainText(info.title)}</Fact>}
            <Fact name="Version">{plainText(info.version)}</Fact>
            {info.description && <Fact name="Description">{plainText(info.description)}</Fact>}
            {info.websiteUrl && (
              <Fact name="Website">
                <SafeLink href={info.websiteUrl} />
              </Fact>
            )}
          </dl>
        )}
      </section>
      <section class="card">
        <h2>Instructions</h2>
        {instructions ? (
          <LongText text={instructions} />
        ) : (
          <p class="note">The server has no instructions for models.</p>
        )}
      </section>
      <section class="card">
        <h2>Capabilities</h2>
        <JsonTree value={capabilities} />
      </section>
    </>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Reconnect(): VNode {
  const { connection } = usePageState()
  const [era, setEra] = useKept('era', () => '')
  const [ping, setPing] = useState<string>()
  const [problem, setProblem] = useState<ExplainedError>()
  const measure = () => {
    const start = performance.now()
    setProblem(undefined)
    setPing(undefined)
    call('ping', {}).then(
      () => setPing(`Response after ${formatDuration(performance.now() - start)}`),
      (error: unknown) => setProblem(explainedOf(error)),
    )
  }
  return (
    <>
      <div class="actions">
        <label class="inline">
          Era
          <select value={era} onChange={(event) => setEra(event.currentTarget.value)}>
            {ERAS.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <Button look="primary" onClick={() => void call('connect', era === '' ? {} : { era }).catch(() => {})}>
          {connection.status === 'connected' ? 'Connect again' : 'Connect'}
        </Button>
        <Button onClick={measure} disabled={connection.status !== 'connected'}>
          Ping
        </Button>
        <span role="status" class="note">
          {ping}
        </span>
      </div>
      {problem && <ErrorCard error={problem} />}
    </>
  )
}

function LogLevel(): VNode | null {
  const { connection } = usePageState()
  const [level, setLevel] = useKept<LoggingLevel>('level', () => 'info')
  const [problem, setProblem] = useState<ExplainedError>()
  if (connection.status !== 'connected' || connection.server.capabilities.logging === undefined) return null
  const change = (changed: LoggingLevel) => {
    setLevel(changed)
    setProblem(undefined)
    call('setLogLevel', { level: changed }).catch((error: unknown) => setProblem(explainedOf(error)))
  }
  return (
    <section class="card">
      <h2>Log messages</h2>
      <label class="inline">
        Lowest level
        <select value={level} onChange={(event) => change(event.currentTarget.value as LoggingLevel)}>
          {LEVELS.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      {problem && <ErrorCard error={problem} />}
    </section>
  )
}

function Roots(): VNode {
  const { roots } = usePageState()
  const [uri, setUri] = useState('')
  const [problem, setProblem] = useState<ExplainedError>()
  const set = (changed: typeof roots) => {
    setProblem(undefined)
    call('setRoots', { roots: changed }).then(
      () => setUri(''),
      (error: unknown) => setProblem(explainedOf(error)),
    )
  }
  return (
    <section class="card">
      <h2>Roots</h2>
      <p class="note">Folders that the server may ask for. None is named unless you add it.</p>
      <ul class="roots">
        {roots.map((root) => (
          <li key={root.uri}>
            <code class="url">{root.uri}</code>
            <Button
              look="quiet"
              label={`Remove ${root.uri}`}
              onClick={() => set(roots.filter((each) => each !== root))}
            >
              Remove
            </Button>
          </li>
        ))}
      </ul>
      <form
        class="actions"
        onSubmit={(event) => {
          event.preventDefault()
          if (uri.trim() !== '') set([...roots, { uri: uri.trim() }])
        }}
      >
        <input
          type="text"
          aria-label="URI of a folder"
          placeholder="file:///home/me/project"
          spellcheck={false}
          value={uri}
          onInput={(event) => setUri(event.currentTarget.value)}
        />
        <Button submit>Add root</Button>
      </form>
      {problem && <ErrorCard error={problem} />}
    </section>
  )
}
