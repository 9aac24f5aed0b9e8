/** What the dialects allow as values of the keywords that hold no subschemas. */

/** What the keyword must be, where it is not; the path goes on from the keyword. */
export interface Fault {
  readonly path?: string
  readonly must: string
}

type Check = (value: unknown) => Fault | undefined

const must = (text: string, allows: (value: unknown) => boolean): Check => {
  const fault: Fault = { must: text }
  return (value) => (allows(value) ? undefined : fault)
}

const types = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])
const isType = (value: unknown) => typeof value === 'string' && types.has(value)
const isString = (value: unknown) => typeof value === 'string'
const isUnique = (value: readonly unknown[]) => new Set(value).size === value.length
const isNames = (value: unknown) => Array.isArray(value) && value.every(isString) && isUnique(value)
const isAnchor = (value: unknown) => typeof value === 'string' && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value)

const anyNumber = must('must be a number', Number.isFinite)
const count = must(
  'must be an integer that is not negative',
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
)
const text = must('must be a string', isString)
const anchor = must('must be a name of letters, digits, ".", "-" and "_"', isAnchor)
const names = must('must be a list of different strings', isNames)

const checks: Readonly<Record<string, Check>> = {
  $id: text,
  $ref: text,
  $dynamicRef: text,
  $anchor: anchor,
  $dynamicAnchor: anchor,
  type: must(
    `must be one of ${[...types].join(', ')}, or a list of different ones`,
    (value) => isType(value) || (Array.isArray(value) && value.length > 0 && value.every(isType) && isUnique(value)),
  ),
  enum: must('must be a list', Array.isArray),
  multipleOf: must('must be a number above 0', (value) => Number.isFinite(value) && Number(value) > 0),
  minimum: anyNumber,
  maximum: anyNumber,
  exclusiveMinimum: anyNumber,
  exclusiveMaximum: anyNumber,
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minContains: count,
  maxContains: count,
  minProperties: count,
  maxProperties: count,
  uniqueItems: must('must be true or false', (value) => typeof value === 'boolean'),
  required: names,
  dependentRequired: (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { must: 'must be an object' }
    const wrong = Object.entries(value).find(([, list]) => !isNames(list))
    return wrong && { path: wrong[0], must: 'must be a list of different strings' }
  },
  format: text,
  pattern: text,
}

/** What is wrong with the value of a keyword. Nothing, also for keywords that nobody here knows. */
export function faultOf(keyword: string, value: unknown): Fault | undefined {
  return Object.hasOwn(checks, keyword) ? checks[keyword]?.(value) : undefined
}

/** Whether a list names properties, each once. */
export const isNameList: (value: unknown) => boolean = isNames
