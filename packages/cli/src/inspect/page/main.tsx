/** The page of `mcpx inspect`. */

import { render, type VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { plainText } from '../../output/plain-text.ts'
import { Badge, Button, ErrorCard, Loading } from './elements.tsx'
import { hrefOf, TABS, type Tab, usePageState, useRoute } from './hooks.ts'
import { Messages } from './messages.tsx'
import { Prompts } from './prompts.tsx'
import { Questions } from './questions.tsx'
import { Resources } from './resources.tsx'
import { ServerPanel } from './server-panel.tsx'
import { call, openEvents, type PageState } from './store.ts'
import { Tools } from './tools.tsx'

const TITLES: Readonly<Record<Tab, string>> = {
  tools: 'Tools',
  resources: 'Resources',
  prompts: 'Prompts',
  server: 'Server',
  messages: 'Messages',
}

function Page(): VNode {
  const state = usePageState()
  const route = useRoute()
  const [hasMessages, setHasMessages] = useState(true)
  const { connection, isOnline, label, source } = state
  const name = nameOf(state)
  const hasColumn = hasMessages && route.tab !== 'messages'
  useEffect(() => {
    document.title = `${name} - mcpx inspect`
  }, [name])
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>('#main')?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <h1>
          <span class="brand">mcpx</span>
          <span class="server-name">{plainText(name)}</span>
        </h1>
        <Status state={state} />
        <span class="top-toggle">
          <Button look="quiet" onClick={() => setHasMessages(!hasMessages)}>
            {hasMessages ? 'Hide messages' : 'Show messages'}
          </Button>
        </span>
      </header>
      <nav aria-label="Parts of the server">
        {TABS.map((tab) => (
          <a
            key={tab}
            href={hrefOf(tab)}
            class={`tab tab-${tab}`}
            aria-current={route.tab === tab ? 'page' : undefined}
          >
            {TITLES[tab]}
            <Count state={state} tab={tab} />
          </a>
        ))}
      </nav>
      {!isOnline && label !== '' && (
        <p class="banner" role="alert">
          mcpx inspect does not answer. Start it again, and open the address that it prints.
        </p>
      )}
      <div class={`body ${hasColumn ? 'with-messages' : ''}`}>
        <main id="main" tabIndex={-1}>
          {connection.status === 'failed' && (
            <div class="connect-error">
              <ErrorCard error={connection.error}>
                <Button look="primary" onClick={() => void call('connect', {}).catch(() => {})}>
                  Connect again
                </Button>
              </ErrorCard>
            </div>
          )}
          {connection.status === 'connecting' && (
            <>
              <Loading>Connecting to {plainText(label)}</Loading>
              {source.kind === 'url' && (
                <p class="hint note">If the server requires a login, continue in the tab that it opens.</p>
              )}
            </>
          )}
          {(connection.status === 'connected' || route.tab === 'server' || route.tab === 'messages') && (
            <TabContent tab={route.tab} />
          )}
        </main>
        {hasColumn && <Messages />}
      </div>
      <Questions />
    </>
  )
}

function TabContent({ tab }: { readonly tab: Tab }): VNode {
  switch (tab) {
    case 'tools':
      return <Tools />
    case 'resources':
      return <Resources />
    case 'prompts':
      return <Prompts />
    case 'server':
      return <ServerPanel />
    case 'messages':
      return <Messages />
  }
}

function Status({ state }: { readonly state: PageState }): VNode {
  const { connection, isOnline } = state
  const text = !isOnline
    ? 'Offline'
    : { connecting: 'Connecting', failed: 'Not connected', connected: 'Connected' }[connection.status]
  const tone = !isOnline || connection.status === 'failed' ? 'danger' : connection.status === 'connected' ? 'ok' : ''
  return (
    <div class="status">
      <span role="status">
        <Badge tone={tone}>
          <span class="dot" aria-hidden="true" />
          {text}
        </Badge>
      </span>
      {connection.status === 'connected' && (
        <span class="revision">
          {connection.revision} <span class="era">{connection.era}</span>
        </span>
      )}
    </div>
  )
}

function Count({ state, tab }: { readonly state: PageState; readonly tab: Tab }): VNode | null {
  const { listTools, listResources, listResourceTemplates, listPrompts } = state.lists
  const counts: Partial<Record<Tab, number>> = {
    tools: listTools.items.length,
    resources: listResources.items.length + listResourceTemplates.items.length,
    prompts: listPrompts.items.length,
    messages: state.messages.length,
  }
  const count = counts[tab]
  return count === undefined || count === 0 ? null : <span class="count">{count.toLocaleString('en')}</span>
}

function nameOf({ connection, label }: PageState): string {
  const info = connection.status === 'connected' ? connection.server.info : undefined
  return info === undefined ? label : `${info.title ?? info.name} ${info.version}`
}

openEvents()
const root = document.querySelector('#page')
if (root !== null) render(<Page />, root)
