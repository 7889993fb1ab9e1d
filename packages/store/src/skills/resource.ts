import type { StoredResource } from '../database/stored-resource.ts';

export const skillTables = {
  topics: [],
  sealed: [],
  columns: {
    'agent_skills.members': '(string | null)',
    'agent_skills.state': "Exclude<domain.AgentSkillState, 'pending'>",
    'skill_versions.files': 'JsonColumn<readonly domain.SkillFileFacts[]>',
    'skill_versions.findings': 'JsonColumn<readonly domain.SkillFinding[]>',
    'skill_versions.source': 'JsonColumn<domain.SkillSource>',
  },
} as const satisfies StoredResource;
