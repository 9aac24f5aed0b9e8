/**
 * Reads the skills of servers: verifies files, stores approvals, which end when a skill changes, and creates tools for
 * models.
 */

// biome-ignore format: a list of names reads best as a paragraph
export {
  createMemoryCache, type SkillCache, type SkillCallOptions, type SkillFile, type SkillLibrary, type SkillsClientOptions,
  type SkillsConnection, skills,
} from './client/library.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  type ApprovalRequest, type ApprovalStore, createSkillRegistry, type LoadedSkill, type RegisteredSkill,
  type SkillRegistry, type SkillRegistryOptions,
} from './client/registry.ts'
export { type SkillTools, skillTools } from './client/tools.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  SKILL_LIMITS, SKILLS_EXTENSION, type Skill, SkillError, type SkillErrorReason, type SkillFrontmatter,
  type SkillResource,
} from './skill.ts'
