import { queryOptions } from '@tanstack/react-query';
import type { PutAgentSkill } from '@lodge/sdk';
import { change, list, lodge } from '../../../api.ts';

/** A read has the runtime asked, so it says what is so now. */
export const agentSkillsQuery = (agentId: string) =>
  queryOptions({ queryKey: ['agent', agentId, 'skills'], queryFn: () => list(lodge.agentSkills.list(agentId)) });

/** The latest of a skill's versions. */
export const skillVersionsQuery = (skill: string) =>
  queryOptions({
    queryKey: ['skills', skill, 'versions'],
    queryFn: () => list(lodge.skills.versions(skill, { limit: 20 })),
  });

export const skillChanges = (agentId: string) => ({
  put: (name: string, body: PutAgentSkill) => change(() => lodge.agentSkills.put(agentId, name, body)),
  remove: (name: string) => change(() => lodge.agentSkills.delete(agentId, name)),
});
