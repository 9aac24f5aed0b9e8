/** The list of the items of a tab, with a filter. */

import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import { plainText } from '../../output/plain-text.ts'
import { Button, Empty, ErrorCard, Loading } from './elements.tsx'
import { hrefOf, type Tab } from './hooks.ts'
import type { ListState } from './store.ts'

/** How many entries are shown at first, and with each click on "more". */
const STEP = 200

/** An entry of a list. */
export interface Entry {
  /** Identifies the item in the address of the page. */
  readonly id: string
  readonly title: string
  readonly detail?: string | undefined
  readonly badge?: string | undefined
}

/** A list of links to items. */
export function ItemList<Item>(props: {
  readonly tab: Tab
  readonly title: string
  readonly list: ListState<Item>
  readonly entryOf: (item: Item) => Entry
  readonly selected: string | undefined
  readonly onReload: () => void
  /** The text if the server has no items, or does not support them. */
  readonly emptyText: string
}): VNode {
  const { tab, title, list, entryOf, selected, onReload, emptyText } = props
  const [filter, setFilter] = useState('')
  const [shown, setShown] = useState(STEP)
  const entries = list.items.map(entryOf)
  const wanted = filter.trim().toLowerCase()
  const matches = entries.filter(({ id, title: name, detail = '' }) =>
    `${id}\n${name}\n${detail}`.toLowerCase().includes(wanted),
  )
  return (
    <section class="list" aria-label={title}>
      <div class="list-head">
        <h2>
          {title} {list.status === 'ready' && <span class="count">{list.items.length.toLocaleString('en')}</span>}
        </h2>
        <Button look="quiet" onClick={onReload} label={`Reload ${title.toLowerCase()}`}>
          Reload
        </Button>
      </div>
      {entries.length > 5 && (
        <input
          type="search"
          class="filter"
          placeholder="Filter"
          aria-label={`Filter ${title.toLowerCase()}`}
          value={filter}
          onInput={(event) => {
            setFilter(event.currentTarget.value)
            setShown(STEP)
          }}
        />
      )}
      {list.error && (
        <ErrorCard error={list.error}>
          <Button onClick={onReload}>Try again</Button>
        </ErrorCard>
      )}
      {list.status === 'loading' && entries.length === 0 && <Loading>Loading</Loading>}
      {(list.status === 'ready' || list.status === 'empty') && entries.length === 0 && <Empty title={emptyText} />}
      {list.status === 'ready' && entries.length > 0 && matches.length === 0 && (
        <Empty title="No match">Change the filter.</Empty>
      )}
      {list.isCut && (
        <p class="note">The server has more items. Only the first {entries.length.toLocaleString('en')} were read.</p>
      )}
      <ul class="entries">
        {matches.slice(0, shown).map(({ id, title: name, detail, badge }, index) => (
          <li key={`${index} ${id}`}>
            <a href={hrefOf(tab, id)} class="entry" aria-current={id === selected ? 'true' : undefined}>
              <span class="entry-title">{plainText(name)}</span>
              {badge && <span class="badge">{plainText(badge)}</span>}
              {detail && <span class="entry-detail">{plainText(detail.slice(0, 300))}</span>}
            </a>
          </li>
        ))}
      </ul>
      {matches.length > shown && (
        <Button onClick={() => setShown(shown + STEP)}>Show {Math.min(STEP, matches.length - shown)} more</Button>
      )}
    </section>
  )
}

/** The head of the selected item. */
export function ItemHead(props: {
  readonly tab: Tab
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly children?: ComponentChildren
}): VNode {
  const { tab, name, title, description, children } = props
  const [isWhole, setIsWhole] = useState(false)
  const isLong = description !== undefined && description.length > 600
  return (
    <header class="item-head">
      <a class="back" href={hrefOf(tab)}>
        ← Back to the list
      </a>
      <h2>{plainText(name)}</h2>
      {title && title !== name && <p class="item-title">{plainText(title)}</p>}
      {children && <p class="badges">{children}</p>}
      {description && (
        <p class="description">
          {plainText(isLong && !isWhole ? `${description.slice(0, 500)}…` : description)}
          {isLong && (
            <button type="button" class="link" onClick={() => setIsWhole(!isWhole)}>
              {isWhole ? 'Show less' : 'Show more'}
            </button>
          )}
        </p>
      )}
    </header>
  )
}
