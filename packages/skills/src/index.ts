/** Serves Agent Skills over the Model Context Protocol on every runtime, from a bundle or from your own source. */

export { type SkillsExtension, type SkillsHost, type SkillsOptions, skills } from './extension.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  SKILL_LIMITS, SKILLS_EXTENSION, type Skill, SkillError, type SkillErrorReason, type SkillFrontmatter,
  type SkillResource,
} from './skill.ts'
export type { BundledFile, SkillBundle, SkillSource } from './source.ts'
