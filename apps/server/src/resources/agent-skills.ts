import { createAgentSkills } from '@lodge/engine';
import { agentSkillRoutes } from '../http/routes/skills/of-agent.ts';
import type { Core, Resource } from './resource.ts';

export const agentSkills = {
  open: (core: Core) => createAgentSkills(core),
  routes: [agentSkillRoutes],
} as const satisfies Resource;
