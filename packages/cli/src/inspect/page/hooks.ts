/** Hooks: the state of the page, the address, state that survives a change of the tab, and calls that can be cancelled. */

import { useCallback, useEffect, useState } from 'preact/hooks'
import type { ExplainedError } from '../api.ts'
import {
  type CallProgress,
  type CallSettings,
  explainedOf,
  getState,
  type PageState,
  subscribeToState,
} from './store.ts'

/** Returns the state of the page, and renders again when it changes. */
export function usePageState(): PageState {
  const [state, setState] = useState(getState)
  useEffect(() => {
    setState(getState())
    return subscribeToState(() => setState(getState()))
  }, [])
  return state
}

/** The tabs of the page. */
export const TABS = ['tools', 'resources', 'prompts', 'server', 'messages'] as const
/** The name of a tab. */
export type Tab = (typeof TABS)[number]

/** A place in the page: a tab and the selected item, as in `#tools/search`. */
export interface Route {
  readonly tab: Tab
  readonly item: string | undefined
}

function readRoute(): Route {
  const [, name = '', item] = /^#([a-z]+)(?:\/(.*))?$/s.exec(location.hash) ?? []
  const tab = TABS.find((each) => each === name) ?? 'tools'
  try {
    return { tab, item: item === undefined ? undefined : decodeURIComponent(item) }
  } catch {
    return { tab, item: undefined }
  }
}

/** Returns the address of a place. */
export function hrefOf(tab: Tab, item?: string): string {
  return item === undefined ? `#${tab}` : `#${tab}/${encodeURIComponent(item)}`
}

/** Returns the place of the address, and renders again when it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(readRoute)
  useEffect(() => {
    const update = () => setRoute(readRoute())
    addEventListener('hashchange', update)
    return () => removeEventListener('hashchange', update)
  }, [])
  return route
}

const kept = new Map<string, unknown>()

/** Like `useState`, but the value is stored under the key, and kept while other items are shown. */
export function useKept<Value>(key: string, initial: () => Value): [Value, (value: Value) => void] {
  const [, render] = useState({})
  if (!kept.has(key)) kept.set(key, initial())
  const set = useCallback(
    (value: Value) => {
      kept.set(key, value)
      render({})
    },
    [key],
  )
  return [kept.get(key) as Value, set]
}

/** The state of a call that the user starts. */
export type RunState<Result> =
  | { readonly status: 'idle' }
  | { readonly status: 'running'; readonly start: number; readonly progress?: CallProgress | undefined }
  | { readonly status: 'done'; readonly result: Result; readonly duration: number }
  | { readonly status: 'cancelled'; readonly duration: number }
  | { readonly status: 'failed'; readonly error: ExplainedError; readonly duration: number }

const runs = new Map<string, { readonly state: RunState<unknown>; readonly controller: AbortController }>()
const runListeners = new Set<() => void>()

/** A call that continues while other items are shown. */
export interface Run<Result> {
  readonly state: RunState<Result>
  /** Starts the call, and cancels an earlier call of the same key. */
  start(make: (settings: CallSettings) => Promise<Result>): void
  cancel(): void
}

/** Returns the call of a key, such as the name of a tool. */
export function useRun<Result>(key: string): Run<Result> {
  const [, render] = useState({})
  useEffect(() => {
    const listener = () => render({})
    runListeners.add(listener)
    return () => void runListeners.delete(listener)
  }, [])
  return {
    state: (runs.get(key)?.state ?? { status: 'idle' }) as RunState<Result>,
    start: (make) => void startRun(key, make),
    cancel: () => runs.get(key)?.controller.abort(),
  }
}

async function startRun<Result>(key: string, make: (settings: CallSettings) => Promise<Result>): Promise<void> {
  runs.get(key)?.controller.abort()
  const controller = new AbortController()
  const start = performance.now()
  const setState = (state: RunState<Result>) => {
    runs.set(key, { state, controller })
    for (const listener of runListeners) listener()
  }
  // Ignore the result of a call that was replaced.
  const update = (state: RunState<Result>) => {
    if (runs.get(key)?.controller === controller) setState(state)
  }
  setState({ status: 'running', start })
  try {
    const onProgress = (progress: CallProgress) => update({ status: 'running', start, progress })
    const result = await make({ signal: controller.signal, onProgress })
    update({ status: 'done', result, duration: performance.now() - start })
  } catch (error) {
    const duration = performance.now() - start
    if (controller.signal.aborted) update({ status: 'cancelled', duration })
    else update({ status: 'failed', error: explainedOf(error), duration })
  }
}
