/** The types of @mcpx/json-schema and the port of @mcpx/protocol are the same: neither package imports the other. */
import type * as own from '@mcpx/json-schema'
import type * as port from '@mcpx/protocol'
import { expectTypeOf } from 'vitest'

expectTypeOf<own.JsonSchemaValidator>().toEqualTypeOf<port.JsonSchemaValidator>()
expectTypeOf<own.CompiledSchema>().toEqualTypeOf<port.CompiledSchema>()
expectTypeOf<own.JsonSchemaVerdict>().toEqualTypeOf<port.JsonSchemaVerdict>()
expectTypeOf<own.JsonSchemaProblem>().toEqualTypeOf<port.JsonSchemaProblem>()
expectTypeOf<own.JsonSchema>().toEqualTypeOf<port.JsonSchema>()
