/** Serves the skills of a folder, and bundles them for runtimes without files. */

export { type BundleOptions, bundleSkills, type FolderSkillsOptions, type JsonBundle, skills } from './node/skills.ts'
