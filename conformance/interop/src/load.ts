/** Loads what others wrote, by name: their types would pull their sources into the compiler of this repository. */

/** A computed name keeps the compiler from looking into the package; the caller says which part of it is used. */
export async function load<Module>(...names: readonly string[]): Promise<Module> {
  return Object.assign({}, ...(await Promise.all(names.map((name) => import(name)))))
}
