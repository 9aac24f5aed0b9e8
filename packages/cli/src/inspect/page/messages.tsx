/** The log of all messages of the connection. */

import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { plainText } from '../../output/plain-text.ts'
import type { LoggedMessage } from '../api.ts'
import { Button, CopyButton, Empty, formatDuration, formatSize, Loading } from './elements.tsx'
import { usePageState } from './hooks.ts'
import { JsonTree } from './json-tree.tsx'
import { call, fetchMessage } from './store.ts'

/** How many messages are shown at first, and with each click on "more". */
const STEP = 200

const KINDS = {
  all: () => true,
  requests: ({ kind }: LoggedMessage) => kind === 'request' || kind === 'response' || kind === 'error',
  notifications: ({ kind }: LoggedMessage) => kind === 'notification',
  logs: ({ title }: LoggedMessage) => title === 'notifications/message' || title === 'stderr',
  errors: ({ kind, title }: LoggedMessage) => kind === 'error' || kind === 'invalid' || title === 'warning',
} as const

/** The messages, the newest at the bottom. */
export function Messages(): VNode {
  const { messages } = usePageState()
  const [filter, setFilter] = useState('')
  const [kind, setKind] = useState<keyof typeof KINDS>('all')
  const [shown, setShown] = useState(STEP)
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const wanted = filter.trim().toLowerCase()
  const matches = messages.filter((each) => KINDS[kind](each) && (wanted === '' || textOf(each).includes(wanted)))
  const last = matches.at(-1)?.number
  useLayoutEffect(() => {
    if (isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [last])
  return (
    <section class="messages" aria-label="Messages">
      <div class="list-head">
        <h2>
          Messages <span class="count">{messages.length.toLocaleString('en')}</span>
        </h2>
        <Button look="quiet" onClick={() => void call('clearLog', {}).catch(() => {})}>
          Clear
        </Button>
      </div>
      <div class="message-filters">
        <input
          type="search"
          class="filter"
          placeholder="Filter"
          aria-label="Filter messages"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <select
          aria-label="Kind of messages"
          value={kind}
          onChange={(event) => setKind(event.currentTarget.value as keyof typeof KINDS)}
        >
          <option value="all">All</option>
          <option value="requests">Requests</option>
          <option value="notifications">Notifications</option>
          <option value="logs">Logs</option>
          <option value="errors">Errors</option>
        </select>
      </div>
      <div
        class="message-list"
        ref={box}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Messages of the connection"
        onScroll={({ currentTarget }) => {
          isAtEnd.current = currentTarget.scrollHeight - currentTarget.scrollTop - currentTarget.clientHeight < 40
        }}
      >
        {matches.length === 0 && <Empty title={messages.length === 0 ? 'No messages yet' : 'No match'} />}
        {matches.length > shown && (
          <Button look="quiet" onClick={() => setShown(shown + STEP)}>
            Show {Math.min(STEP, matches.length - shown)} older
          </Button>
        )}
        {matches.slice(-shown).map((message) => (
          <MessageRow key={message.number} message={message} />
        ))}
      </div>
    </section>
  )
}

const texts = new WeakMap<LoggedMessage, string>()

/** Returns the text that the filter searches. */
function textOf(message: LoggedMessage): string {
  const known = texts.get(message)
  if (known !== undefined) return known
  const { title, detail = '', id = '', body } = message
  const text = `${title} ${detail} ${id} ${JSON.stringify(body) ?? ''}`.toLowerCase()
  texts.set(message, text)
  return text
}

const ARROWS = { out: '→', in: '←', none: '•' } as const
const DIRECTIONS = { out: 'sent', in: 'received', none: 'event' } as const

function MessageRow({ message }: { readonly message: LoggedMessage }): VNode {
  const [isOpen, setIsOpen] = useState(false)
  const { number, time, direction, kind, title, detail, id, duration, size } = message
  const isBad = kind === 'error' || kind === 'invalid'
  return (
    <div class={`message ${direction} ${isBad ? 'bad' : ''}`}>
      <button
        type="button"
        class="message-head"
        aria-expanded={isOpen}
        disabled={size === 0}
        onClick={() => setIsOpen(!isOpen)}
      >
        <span class="arrow" aria-hidden="true">
          {ARROWS[direction]}
        </span>
        <span class="visually-hidden">
          {DIRECTIONS[direction]} {kind}
        </span>
        <span class="message-title">
          {plainText(title)}
          {detail && <span class="message-detail">{plainText(detail)}</span>}
        </span>
        <span class="message-facts">
          {kind === 'response' || kind === 'error' ? (
            <span class={isBad ? 'fact-bad' : ''}>{kind === 'error' ? 'error' : 'result'}</span>
          ) : null}
          {id !== undefined && <span>#{plainText(String(id)).slice(0, 12)}</span>}
          {duration !== undefined && <span class="fact-time">{formatDuration(duration)}</span>}
          {size > 0 && <span>{formatSize(size)}</span>}
          <time dateTime={new Date(time).toISOString()}>{formatTime(time)}</time>
        </span>
      </button>
      {isOpen && <MessageBody number={number} body={message.body} />}
    </div>
  )
}

function MessageBody({ number, body }: { readonly number: number; readonly body: unknown }): VNode {
  const [loaded, setLoaded] = useState(body)
  useEffect(() => {
    if (body !== undefined) return
    fetchMessage(number).then(setLoaded, (error: Error) => setLoaded(error.message))
  }, [])
  if (loaded === undefined) return <Loading>Loading</Loading>
  return (
    <div class="message-body">
      <CopyButton text={() => JSON.stringify(loaded, null, 2)}>Copy JSON</CopyButton>
      <JsonTree value={loaded} />
    </div>
  )
}

function formatTime(time: number): string {
  const date = new Date(time)
  const part = (value: number, length = 2) => String(value).padStart(length, '0')
  return `${part(date.getHours())}:${part(date.getMinutes())}:${part(date.getSeconds())}.${part(date.getMilliseconds(), 3)}`
}
