/** Checks values against a plain JSON Schema. The validator is loaded for the first value: a server starts sooner without. */

import type { CompiledSchema, JsonSchemaValidator } from '@mcpx/json-schema'
import { type Awaitable, isPromise, type JsonObject } from '@mcpx/protocol'
import { type Checked, compile, type RawSchemaOptions, toChecked } from './compiled-schema.ts'
import { RegistrationError } from './registration-error.ts'
import { schemaFault } from './schema-faults.ts'

let loaded: JsonSchemaValidator | undefined

/** No promise is kept: what could not be loaded once can be the next time. */
async function loadValidator(): Promise<JsonSchemaValidator> {
  const { createJsonSchemaValidator } = await import('@mcpx/json-schema')
  loaded ??= createJsonSchemaValidator()
  return loaded
}

/**
 * An unusable schema throws now, as far as it can be told without the validator, or one was given. What only the one
 * that is loaded later can tell is reported with the first check, and every check against such a schema fails.
 */
export function createRawCheck(schema: JsonObject, options: RawSchemaOptions): (value: unknown) => Awaitable<Checked> {
  const { where, root, validator, onError } = options
  const fault = validator === undefined ? schemaFault(schema, where) : undefined
  if (fault !== undefined) throw new RegistrationError(fault)
  const load = (): Promise<CompiledSchema> => {
    const loading = loadValidator().then((by) => compile(by, schema, where))
    loading.then(
      (compiled) => {
        ready = compiled
      },
      (error) => {
        if (!(error instanceof RegistrationError)) ready = undefined
        onError(error)
      },
    )
    return loading
  }
  let ready: Awaitable<CompiledSchema> | undefined = validator && compile(validator, schema, where)
  return (value) => {
    ready ??= load()
    if (isPromise(ready)) return ready.then((compiled) => toChecked(compiled, value, root))
    return toChecked(ready, value, root)
  }
}
