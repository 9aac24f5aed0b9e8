/** Loaded before `mcpx` in tests: resolves our packages to their sources. */
import { registerHooks } from 'node:module'

// Not with --conditions, because other packages have a `source` condition with files that Node cannot run.
registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('@mcpx/')) return next(specifier, context)
    return next(specifier, { ...context, conditions: [...context.conditions, 'source'] })
  },
})
