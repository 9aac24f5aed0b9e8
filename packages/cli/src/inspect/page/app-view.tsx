/** Displays the view of a tool in a sandboxed frame of another origin, and connects it with the server. */

import { type OpenView, openView, windowPort } from '@mcpx/apps/host'
import type { CallToolResult, Tool } from '@mcpx/client'
import type { JsonObject } from '@mcpx/protocol'
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { plainText } from '../../output/plain-text.ts'
import type { ExplainedError, ServedView } from '../api.ts'
import { Button, ErrorCard, Loading } from './elements.tsx'
import { JsonTree } from './json-tree.tsx'
import { call, explainedOf } from './store.ts'

/** The height of a frame, in CSS pixels. */
const MIN_HEIGHT = 120
const MAX_HEIGHT = 800
/** How many messages of a view are shown. */
const MAX_SHOWN = 20

interface ViewMessage {
  readonly title: string
  readonly value: unknown
}

/** Shows the view of one call. */
export function AppView(props: {
  readonly tool: Tool
  readonly args: JsonObject
  /** The result, when the call has ended. */
  readonly result: CallToolResult | undefined
  /** The reason why there is no result. */
  readonly failure: string | undefined
}): VNode {
  const { tool, args, result, failure } = props
  const [served, setServed] = useState<ServedView>()
  const [error, setError] = useState<ExplainedError>()
  const [height, setHeight] = useState(320)
  const [link, setLink] = useState<{ readonly url: string; answer(isOpened: boolean): void }>()
  const [messages, setMessages] = useState<readonly ViewMessage[]>([])
  const frame = useRef<HTMLIFrameElement>(null)
  const view = useRef<OpenView>(undefined)
  const isOver = useRef(false)
  const add = (title: string, value: unknown) =>
    setMessages((earlier) => [...earlier, { title, value }].slice(-MAX_SHOWN))

  useEffect(() => {
    const bridge = openView({
      tool,
      client: {
        callTool: (name, toolArgs, { signal }) => call('callTool', { name, args: toolArgs }, { signal }),
        listTools: () => ({ all: async () => [...(await call('listTools', {})).items] }),
        readResource: (uri, { signal }) => call('readResource', { uri }, { signal }),
      },
      port: windowPort(window, () => frame.current?.contentWindow ?? null),
      hostInfo: { name: 'mcpx inspect', version: '1.0.0' },
      hostContext: {
        theme: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
        displayMode: 'inline',
        locale: navigator.language,
        platform: 'web',
      },
      onSize: ({ height: wanted }) => {
        if (wanted !== undefined) setHeight(Math.min(MAX_HEIGHT, Math.max(MIN_HEIGHT, Math.ceil(wanted))))
      },
      onOpenLink: (url) => new Promise<boolean>((answer) => setLink({ url, answer })),
      onMessage: (message) => {
        add('The view sent a message of the user', message)
        return true
      },
      onModelContext: (context) => {
        add('The view changed what the model knows', context)
        return true
      },
      onWarning: (warning) => add(warning.message, undefined),
    })
    view.current = bridge
    bridge.sendInput(args)
    // Start the bridge before the document is loaded.
    call('openView', { tool }).then(setServed, (reason: unknown) => setError(explainedOf(reason)))
    return () => void bridge.close()
  }, [])

  useEffect(() => {
    if (isOver.current || (result === undefined && failure === undefined)) return
    isOver.current = true
    if (result !== undefined) view.current?.sendResult(result)
    else view.current?.cancel(failure)
  }, [result, failure])

  const answerLink = (isOpened: boolean) => {
    link?.answer(isOpened)
    setLink(undefined)
  }
  return (
    <section class="app-view" aria-label="View">
      <h3>View</h3>
      {error && <ErrorCard error={error} />}
      {!error && !served && <Loading>Loading the view</Loading>}
      {served && (
        <iframe
          ref={frame}
          class={served.prefersBorder ? 'bordered' : ''}
          title={`View of ${tool.name}`}
          sandbox="allow-scripts allow-forms"
          allow={served.allow}
          src={served.url}
          height={height}
        />
      )}
      {link && (
        <div class="problems" role="alert">
          <p>The view wants to open this address:</p>
          <p>
            <code class="url">{plainText(link.url)}</code>
          </p>
          <div class="actions">
            <a
              class="button primary"
              href={link.url}
              target="_blank"
              rel="noopener noreferrer"
              onClick={() => answerLink(true)}
            >
              Open
            </a>
            <Button onClick={() => answerLink(false)}>Refuse</Button>
          </div>
        </div>
      )}
      {messages.map(({ title, value }, index) => (
        <div class="view-message" key={index}>
          <p class="note">{plainText(title)}</p>
          {value !== undefined && <JsonTree value={value} />}
        </div>
      ))}
    </section>
  )
}
