/** Restricts the condition `source` to the packages of this repository, because other packages use it for files that Node cannot run. */

import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, next) {
    if (/^(?:@mcpx\/|[./]|file:|node:)/.test(specifier)) return next(specifier, context)
    return next(specifier, { ...context, conditions: context.conditions.filter((each) => each !== 'source') })
  },
})
