/** The async context of a call, such as that of a trace: over a pipe, what comes is read in that of whoever began to read. */

import type { RequestCallOptions } from './options.ts'

type InContext = <Args extends unknown[], Result>(run: (...args: Args) => Result, ...args: Args) => Result

/** What there is of it on runtimes that tell of such contexts. */
interface Runtime {
  getBuiltinModule?(name: string): { readonly AsyncLocalStorage?: { snapshot?(): InContext } } | undefined
}

/** Has the callbacks of a call run in the context that it is made in. */
export function inCallersContext(options: RequestCallOptions): RequestCallOptions {
  const { onProgress, onNotification, onLog, onAsk } = options
  if (!(onProgress || onNotification || onLog || onAsk)) return options
  const { process } = globalThis as { readonly process?: Runtime }
  const inContext = process?.getBuiltinModule?.('node:async_hooks')?.AsyncLocalStorage?.snapshot?.()
  if (inContext === undefined) return options

  function bound<Args extends unknown[], Result>(run: ((...args: Args) => Result) | undefined) {
    return run && ((...args: Args) => (inContext as InContext)(run, ...args))
  }
  const { signal, timeout, maxTimeout } = options
  return {
    ...options,
    // Those that it inherits, too.
    signal,
    timeout,
    maxTimeout,
    onProgress: bound(onProgress),
    onNotification: bound(onNotification),
    onLog: bound(onLog),
    onAsk: bound(onAsk),
  }
}
