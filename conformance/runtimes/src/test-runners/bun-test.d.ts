/** The part of the test runner of Bun that our tests use. */
declare module 'bun:test' {
  export interface Matchers {}
  export const test: (name: string, run: () => Promise<void>) => void
  export const expect: ((value: unknown) => Matchers & { readonly not: Matchers }) & {
    extend(matchers: object): void
  }
}
