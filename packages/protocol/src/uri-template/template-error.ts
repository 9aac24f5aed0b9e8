/** What a template that cannot be used says about itself. */

/** A URI template is malformed, over a limit, ambiguous where it has to match, or was given a value it cannot carry. */
export class UriTemplateError extends Error {
  override readonly name = 'UriTemplateError'
  readonly template: string
  /** Where in the template, counted in UTF-16 code units from 0. */
  readonly position: number

  constructor(template: string, position: number, problem: string) {
    const shown = template.length > 80 ? `${template.slice(0, 80)}...` : template
    super(`URI template "${shown}", position ${position}: ${problem}`)
    this.template = template
    this.position = position
  }
}

/** Says what is wrong with a template, and where. */
export type Fail = (position: number, problem: string) => UriTemplateError

export function failIn(template: string): Fail {
  return (position, problem) => new UriTemplateError(template, position, problem)
}
