/** Keeps the condition `source` to the packages of this repository: others have it too, for what Node does not run. */

import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, next) {
    if (/^(?:@mcpx\/|[./]|file:|node:)/.test(specifier)) return next(specifier, context)
    return next(specifier, { ...context, conditions: context.conditions.filter((each) => each !== 'source') })
  },
})
