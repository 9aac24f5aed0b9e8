/** Loaded before each program of a document: resolves our packages to their sources, and prints values in one line. */
import { registerHooks } from 'node:module'
import { inspect } from 'node:util'

inspect.defaultOptions.breakLength = Number.POSITIVE_INFINITY
// Not with --conditions, because other packages have a `source` condition with files that Node cannot run.
registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('@mcpx/')) return next(specifier, context)
    return next(specifier, { ...context, conditions: [...context.conditions, 'source'] })
  },
})
