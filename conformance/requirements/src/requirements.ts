/** The requirements of the specification for servers and clients, by section. Tests cite them by id. */
import { readFileSync } from 'node:fs'

/**
 * The part that implements a requirement. `author`: the author of a server or a client implements it, and a library
 * cannot check it.
 */
export type Concern = 'protocol' | 'server' | 'client' | 'transport' | 'auth' | 'author'

export interface Requirement {
  /** `S-` for servers, `C-` for clients, `X-` for extensions. */
  readonly id: string
  /** `M` must, `MN` must not, `S` should, `SN` should not, `O` may, `D` left open by the specification. */
  readonly level: string
  readonly text: string
  readonly concern: Concern
  /** The reason why no test is required. */
  readonly reason?: string
}

export interface Section {
  readonly section: string
  readonly title: string
  /** Whether each must of the section needs a test. */
  readonly complete: boolean
  readonly requirements: readonly Requirement[]
}

interface StoredSection extends Omit<Section, 'requirements'> {
  readonly concern: Concern
  readonly requirements: readonly (Omit<Requirement, 'concern'> & { readonly concern?: Concern })[]
}

const storedSections: readonly StoredSection[] = JSON.parse(
  readFileSync(new URL('requirements.json', import.meta.url), 'utf8'),
)

export const sections: readonly Section[] = storedSections.map(({ concern, requirements, ...section }) => ({
  ...section,
  requirements: requirements.map((requirement) => ({ concern, ...requirement })),
}))

/** Whether the requirement contains a MUST or MUST NOT. */
export function isMust({ level }: Requirement): boolean {
  return level.split('/').some((part) => part === 'M' || part === 'MN')
}

/** Whether a test in this repository can check the requirement. */
export function isTestable({ concern }: Requirement): boolean {
  return concern !== 'author'
}
