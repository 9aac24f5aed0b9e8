/** Imports third-party packages without their types, so that the compiler does not check their sources. */

/** Imports modules by computed names; the caller declares the members that it uses. */
export async function load<Module>(...names: readonly string[]): Promise<Module> {
  return Object.assign({}, ...(await Promise.all(names.map((name) => import(name)))))
}
