/** Scenarios that load skills. In most scenarios the client must refuse a skill. */
import { SkillError, skills } from '@mcpx/skills/client'
import { open, type Scenario, type Scenarios } from './scenario.ts'

const listSkills: Scenario = async (run) => {
  await using client = await open(run)
  await skills(client).list()
}

/** Loads each skill. Reads its other files if its SKILL.md has the digest that the server has listed. */
const loadSkills: Scenario = async (run) => {
  await using client = await open(run)
  const library = skills(client)
  for (const skill of await library.list()) {
    try {
      await library.read(skill)
      await library.read(skill, 'references/FORMS.md')
    } catch (error) {
      // A file differs from the list of the server, so the skill is not used.
      if (!(error instanceof SkillError && error.reason.endsWith('-mismatch'))) throw error
    }
  }
}

export const skillScenarios: Scenarios = {
  'sep-2640-client-no-prefetch': listSkills,
  'sep-2640-client-verify-digest': loadSkills,
  'sep-2640-client-verify-size': loadSkills,
  'sep-2640-client-verify-frontmatter': loadSkills,
}
