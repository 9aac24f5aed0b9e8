/** What the protocol requires of servers and clients, by section; each requirement has an id that tests cite. */
import { readFileSync } from 'node:fs'

/** Who has to see to it. `author`: whoever writes a server or a client with the packages; no library can know. */
export type Concern = 'protocol' | 'server' | 'client' | 'transport' | 'auth' | 'author'

export interface Requirement {
  /** `S-` for what servers must do, `C-` for clients, `X-` for extensions. */
  readonly id: string
  /** `M` must, `MN` must not, `S` should, `SN` should not, `O` may, `D` the specification leaves it to us. */
  readonly level: string
  readonly text: string
  readonly concern: Concern
  /** Why no test is demanded, where that needs to be said. */
  readonly reason?: string
}

export interface Section {
  readonly section: string
  readonly title: string
  /** Whether all that it demands is demanded of the tests. */
  readonly complete: boolean
  readonly requirements: readonly Requirement[]
}

interface Written extends Omit<Section, 'requirements'> {
  readonly concern: Concern
  readonly requirements: readonly (Omit<Requirement, 'concern'> & { readonly concern?: Concern })[]
}

const written: readonly Written[] = JSON.parse(readFileSync(new URL('requirements.json', import.meta.url), 'utf8'))

export const sections: readonly Section[] = written.map(({ concern, requirements, ...section }) => ({
  ...section,
  requirements: requirements.map((requirement) => ({ concern, ...requirement })),
}))

/** Whether it says MUST or MUST NOT, if only in part. */
export function isMust({ level }: Requirement): boolean {
  return level.split('/').some((part) => part === 'M' || part === 'MN')
}

/** Whether a test in this repository can show it. */
export function isDemanded({ concern }: Requirement): boolean {
  return concern !== 'author'
}
