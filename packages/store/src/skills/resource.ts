import type { StoredResource } from '../database/stored-resource.ts';

export const skillTables = {
  topics: [],
  sealed: [],
  columns: {
    'skill_versions.files': 'JsonColumn<readonly domain.SkillFileFacts[]>',
    'skill_versions.findings': 'JsonColumn<readonly domain.SkillFinding[]>',
    'skill_versions.source': 'JsonColumn<domain.SkillSource>',
  },
} as const satisfies StoredResource;
