/** Loaded before each program of a document: our packages are taken from their sources, and values printed in one line. */
import { registerHooks } from 'node:module'
import { inspect } from 'node:util'

inspect.defaultOptions.breakLength = Number.POSITIVE_INFINITY
// Not by --conditions: packages of others have sources too, which Node refuses to take the types out of.
registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('@mcpx/')) return next(specifier, context)
    return next(specifier, { ...context, conditions: [...context.conditions, 'source'] })
  },
})
