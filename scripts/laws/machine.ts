/** What belongs to one machine stays on it. */
import type { Law } from './law.ts'

const binary = /\.(?:png|jpe?g|gif|ico|woff2?|tgz|wasm|zip)$/

/** A path is absolute when nothing but white space or a quote stands before it; `file:///home/me` is an example URI. */
const belongings: readonly (readonly [RegExp, string])[] = [
  [/\bregistry\.[a-z0-9-]+\.[a-z]{2,}\b/i, 'names a package registry'],
  [/https?:\/\/[^\s'"]+\/-\/[^\s'"]+\.tgz/, 'names the address of a tarball'],
  [/(?<![\w.:/*-])\/(?:home|Users|root|work)\/[\w.-]+/, 'names a path of one machine'],
  [/\b[A-Z]:\\{1,2}Users\\/, 'names a path of one machine'],
]

export const noMachine: Law = {
  name: 'no-machine',
  says: 'No file names a package registry or an absolute path of somebody’s machine.',
  check: (tree) =>
    tree.files
      .filter((path) => !binary.test(path))
      .flatMap((path) =>
        tree
          .read(path)
          .split('\n')
          .flatMap((text, index) =>
            belongings
              .filter(([pattern]) => pattern.test(text))
              .map(([pattern, what]) => ({ path, line: index + 1, what: `${what}: ${pattern.exec(text)?.[0]}` })),
          ),
      ),
}
