/** The tab of the resources: resources and templates, their contents, and subscriptions. */

import type { Resource, ResourceTemplate } from '@mcpx/client'
import type { ReadResourceResult } from '@mcpx/protocol'
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { plainText } from '../../output/plain-text.ts'
import type { ExplainedError } from '../api.ts'
import { CompletedInput } from './completed-input.tsx'
import { Contents, type ResourceContents } from './content.tsx'
import { Badge, Button, CopyButton, Empty, ErrorCard, formatDuration, formatSize, Segments } from './elements.tsx'
import { useKept, usePageState, useRoute, useRun } from './hooks.ts'
import { ItemHead, ItemList } from './item-list.tsx'
import { JsonTree } from './json-tree.tsx'
import { RunPanel } from './run-panel.tsx'
import { call, explainedOf, loadList } from './store.ts'
import { expandTemplate, variablesOf } from './uri-template.ts'

/** The resources and the templates of the server. */
export function Resources(): VNode {
  const { lists } = usePageState()
  const { item } = useRoute()
  const { listResources, listResourceTemplates } = lists
  const template = listResourceTemplates.items.find(({ uriTemplate }) => uriTemplate === item)
  const hasTemplates = listResourceTemplates.items.length > 0 || listResourceTemplates.status === 'failed'
  return (
    <div class={`split ${item === undefined ? '' : 'has-item'}`}>
      <div class="lists">
        <ItemList
          tab="resources"
          title="Resources"
          list={listResources}
          selected={item}
          onReload={() => void loadList('listResources')}
          emptyText="The server lists no resources"
          entryOf={({ uri, name, title, mimeType }) => ({
            id: uri,
            title: title ?? name,
            detail: uri,
            badge: mimeType,
          })}
        />
        {hasTemplates && (
          <ItemList
            tab="resources"
            title="Templates"
            list={listResourceTemplates}
            selected={item}
            onReload={() => void loadList('listResourceTemplates')}
            emptyText="The server lists no templates"
            entryOf={({ uriTemplate, name, title }) => ({ id: uriTemplate, title: title ?? name, detail: uriTemplate })}
          />
        )}
      </div>
      <div class="detail">
        {template !== undefined ? (
          <TemplatePanel key={template.uriTemplate} template={template} />
        ) : item !== undefined ? (
          <ResourcePanel key={item} uri={item} resource={listResources.items.find(({ uri }) => uri === item)} />
        ) : (
          <Empty title="Choose a resource">Its contents are shown here.</Empty>
        )}
      </div>
    </div>
  )
}

function ResourcePanel({ uri, resource }: { readonly uri: string; readonly resource: Resource | undefined }): VNode {
  const { title, name, description, mimeType, size } = resource ?? {}
  return (
    <article class="item">
      <ItemHead tab="resources" name={title ?? name ?? uri} title={uri} description={description}>
        {mimeType && <Badge>{plainText(mimeType)}</Badge>}
        {size !== undefined && <Badge>{formatSize(size)}</Badge>}
        {resource === undefined && <Badge>not in the list</Badge>}
      </ItemHead>
      <Reader uri={uri} readsAtOnce />
    </article>
  )
}

function TemplatePanel({ template }: { readonly template: ResourceTemplate }): VNode {
  const { uriTemplate, name, title, description, mimeType } = template
  const [values, setValues] = useKept<Readonly<Record<string, string>>>(`template ${uriTemplate}`, () => ({}))
  const uri = expandTemplate(uriTemplate, values)
  return (
    <article class="item">
      <ItemHead tab="resources" name={title ?? name} title={uriTemplate} description={description}>
        {mimeType ? <Badge>{plainText(mimeType)}</Badge> : undefined}
      </ItemHead>
      <div class="fields">
        {variablesOf(uriTemplate).map((variable) => (
          <CompletedInput
            key={variable}
            reference={{ type: 'ref/resource', uri: uriTemplate }}
            name={variable}
            isRequired={false}
            values={values}
            onChange={(value) => setValues({ ...values, [variable]: value })}
          />
        ))}
      </div>
      <p class="note">
        URI: <code class="url">{plainText(uri)}</code>
      </p>
      <Reader uri={uri} />
    </article>
  )
}

/** Reads a resource, and subscribes to it. */
function Reader({ uri, readsAtOnce = false }: { readonly uri: string; readonly readsAtOnce?: boolean }): VNode {
  const { connection, subscriptions, updates } = usePageState()
  const run = useRun<ReadResourceResult>(`resource ${uri}`)
  const [problem, setProblem] = useState<ExplainedError>()
  const isConnected = connection.status === 'connected'
  const isSubscribed = subscriptions.includes(uri)
  const canSubscribe = isConnected && connection.server.capabilities.resources?.subscribe === true
  const updated = updates[uri]
  const read = () => run.start((settings) => call('readResource', { uri }, settings))
  useEffect(() => {
    if (readsAtOnce && isConnected && run.state.status === 'idle') read()
  }, [uri, isConnected])
  const toggle = () => {
    setProblem(undefined)
    call(isSubscribed ? 'unsubscribe' : 'subscribe', { uri }).catch((error: unknown) => setProblem(explainedOf(error)))
  }
  return (
    <>
      <div class="actions">
        <Button look="primary" onClick={read} disabled={!isConnected || run.state.status === 'running'}>
          Read
        </Button>
        {canSubscribe && (
          <Button onClick={toggle} pressed={isSubscribed}>
            {isSubscribed ? 'Subscribed' : 'Subscribe'}
          </Button>
        )}
        <CopyButton text={() => uri}>Copy URI</CopyButton>
        <span role="status">
          {updated !== undefined && (
            <Badge tone="ok">updated at {new Date(updated).toLocaleTimeString('en-GB')}: read again</Badge>
          )}
        </span>
      </div>
      {problem && <ErrorCard error={problem} />}
      <RunPanel run={run} scrolls={!readsAtOnce}>
        {(result, duration) => <ReadResult result={result} duration={duration} />}
      </RunPanel>
    </>
  )
}

function ReadResult({ result, duration }: { readonly result: ReadResourceResult; readonly duration: number }): VNode {
  const [isRaw, setIsRaw] = useState(false)
  return (
    <>
      <div class="section-head">
        <h3>Contents</h3>
        <span class="time">{formatDuration(duration)}</span>
        <Segments
          label="Show the contents as"
          options={[
            ['content', 'Content'],
            ['json', 'JSON'],
          ]}
          value={isRaw ? 'json' : 'content'}
          onChange={(look) => setIsRaw(look === 'json')}
        />
      </div>
      {isRaw ? (
        <JsonTree value={result} />
      ) : (
        <div class="blocks">
          {result.contents.map((contents, index) => (
            <Contents key={index} contents={contents as ResourceContents} />
          ))}
          {result.contents.length === 0 && <p class="note">The resource has no contents.</p>}
        </div>
      )}
    </>
  )
}
