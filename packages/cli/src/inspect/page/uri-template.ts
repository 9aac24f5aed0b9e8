/** Reads the variables of a URI template (RFC 6570), and expands it with strings. */

/**
 * For each operator: the text before the values, the separator, whether the values have names, and whether `/` is not
 * encoded.
 */
const OPERATORS: Readonly<
  Record<string, readonly [first: string, separator: string, named: boolean, reserved: boolean]>
> = {
  '': ['', ',', false, false],
  '+': ['', ',', false, true],
  '#': ['#', ',', false, true],
  '.': ['.', '.', false, false],
  '/': ['/', '/', false, false],
  ';': [';', ';', true, false],
  '?': ['?', '&', true, false],
  '&': ['&', '&', true, false],
}

const EXPRESSION = /\{([+#./;?&]?)([^{}]*)\}/g

/** Returns the names of the variables, each once. */
export function variablesOf(template: string): string[] {
  return [...new Set([...template.matchAll(EXPRESSION)].flatMap(([, , names = '']) => namesOf(names)))]
}

/** Returns the URI. Leaves out variables without a value or with an empty value. */
export function expandTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(EXPRESSION, (_, operator: string, names: string) => {
    const [first, separator, isNamed, isReserved] = OPERATORS[operator] ?? OPERATORS[''] ?? ['', ',', false, false]
    const parts = namesOf(names).flatMap((name) => {
      const value = values[name] ?? ''
      if (value === '') return []
      const encoded = isReserved ? encodeURI(value) : encodeURIComponent(value)
      return [isNamed ? `${name}=${encoded}` : encoded]
    })
    return parts.length === 0 ? '' : `${first}${parts.join(separator)}`
  })
}

function namesOf(names: string): string[] {
  return names
    .split(',')
    .map((name) => name.replace(/(?:\*|:\d+)$/, ''))
    .filter(Boolean)
}
