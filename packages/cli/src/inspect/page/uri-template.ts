/** Reads the variables of the URI templates of a server, and expands them with strings. */
import { parseUriTemplate } from '@mcpx/protocol/uri-template'

const OPTIONS = { expandOnly: true }

/** Returns the names of the variables, each once. An invalid template has none. */
export function variablesOf(template: string): readonly string[] {
  try {
    return parseUriTemplate(template, OPTIONS).variables
  } catch {
    return []
  }
}

/**
 * Returns the URI, or the template if it is invalid. A variable without a value, or with an empty value, is left out.
 */
export function expandTemplate(template: string, values: Readonly<Record<string, string>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== '')
  try {
    return parseUriTemplate(template, OPTIONS).expand(Object.fromEntries(given))
  } catch {
    return template
  }
}
