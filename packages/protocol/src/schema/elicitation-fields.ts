/** The fields that an elicitation form may have: a small, flat part of JSON Schema. */

import { array, boolean, literal, number, object, optional, type Shape, string, union } from './define.ts'
import { Integer } from './primitives.ts'

const labelled = () => ({ title: optional(string), description: optional(string) })

const stringSchema = () => ({
  type: literal('string'),
  ...labelled(),
  minLength: optional(Integer),
  maxLength: optional(Integer),
  format: optional(literal(['email', 'uri', 'date', 'date-time'])),
  default: optional(string),
})
/** A line of text. */
export interface StringSchema extends Shape<typeof stringSchema> {}
export const StringSchema = /* @__PURE__ */ object<StringSchema>(stringSchema)

const numberSchema = () => ({
  type: literal(['number', 'integer']),
  ...labelled(),
  minimum: optional(number),
  maximum: optional(number),
  default: optional(number),
})
/** A number. */
export interface NumberSchema extends Shape<typeof numberSchema> {}
export const NumberSchema = /* @__PURE__ */ object<NumberSchema>(numberSchema)

const booleanSchema = () => ({ type: literal('boolean'), ...labelled(), default: optional(boolean) })
/** A box to tick. */
export interface BooleanSchema extends Shape<typeof booleanSchema> {}
export const BooleanSchema = /* @__PURE__ */ object<BooleanSchema>(booleanSchema)

const choice = () => ({ type: literal('string'), ...labelled(), default: optional(string) })
const choices = () => ({
  type: literal('array'),
  ...labelled(),
  minItems: optional(Integer),
  maxItems: optional(Integer),
  default: optional(array(string)),
})

const titledOption = () => ({ const: string, title: string })
/** A value and the words that stand for it. */
export interface TitledOption extends Shape<typeof titledOption> {}
export const TitledOption = /* @__PURE__ */ object<TitledOption>(titledOption)

const untitledSingleSelect = () => ({ ...choice(), enum: array(string) })
/** One of several values, shown as they are. */
export interface UntitledSingleSelectEnumSchema extends Shape<typeof untitledSingleSelect> {}
export const UntitledSingleSelectEnumSchema =
  /* @__PURE__ */ object<UntitledSingleSelectEnumSchema>(untitledSingleSelect)

const titledSingleSelect = () => ({ ...choice(), oneOf: array(TitledOption) })
/** One of several values, each shown by its title. */
export interface TitledSingleSelectEnumSchema extends Shape<typeof titledSingleSelect> {}
export const TitledSingleSelectEnumSchema = /* @__PURE__ */ object<TitledSingleSelectEnumSchema>(titledSingleSelect)

const untitledItems = () => ({ type: literal('string'), enum: array(string) })
const untitledMultiSelect = () => ({ ...choices(), items: object<Shape<typeof untitledItems>>(untitledItems) })
/** Any of several values, shown as they are. */
export interface UntitledMultiSelectEnumSchema extends Shape<typeof untitledMultiSelect> {}
export const UntitledMultiSelectEnumSchema = /* @__PURE__ */ object<UntitledMultiSelectEnumSchema>(untitledMultiSelect)

const titledItems = () => ({ anyOf: array(TitledOption) })
const titledMultiSelect = () => ({ ...choices(), items: object<Shape<typeof titledItems>>(titledItems) })
/** Any of several values, each shown by its title. */
export interface TitledMultiSelectEnumSchema extends Shape<typeof titledMultiSelect> {}
export const TitledMultiSelectEnumSchema = /* @__PURE__ */ object<TitledMultiSelectEnumSchema>(titledMultiSelect)

const legacyTitledEnum = () => ({
  ...choice(),
  enum: array(string),
  /** The titles, in the order of `enum`. */
  enumNames: optional(array(string)),
})
/** The old way to give values titles; `oneOf` replaces it. */
export interface LegacyTitledEnumSchema extends Shape<typeof legacyTitledEnum> {}
export const LegacyTitledEnumSchema = /* @__PURE__ */ object<LegacyTitledEnumSchema>(legacyTitledEnum)

/** A choice of one or of many. */
export type EnumSchema =
  | UntitledSingleSelectEnumSchema
  | TitledSingleSelectEnumSchema
  | UntitledMultiSelectEnumSchema
  | TitledMultiSelectEnumSchema
  | LegacyTitledEnumSchema
export const EnumSchema = /* @__PURE__ */ union([
  LegacyTitledEnumSchema,
  UntitledSingleSelectEnumSchema,
  TitledSingleSelectEnumSchema,
  UntitledMultiSelectEnumSchema,
  TitledMultiSelectEnumSchema,
])

/** One field of a form. */
export type PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | EnumSchema
export const PrimitiveSchemaDefinition = /* @__PURE__ */ union([StringSchema, NumberSchema, BooleanSchema, EnumSchema])
