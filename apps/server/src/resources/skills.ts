import { randomUUID } from 'node:crypto';
import { createSkills } from '@lodge/engine';
import { addSkillRoute } from '../http/routes/skills/add.ts';
import { skillRoutes } from '../http/routes/skills/skills.ts';
import type { Core, Resource } from './resource.ts';

export const skills = {
  open: ({ database, skillReader }: Core) => createSkills({ database, reader: skillReader, makeId: randomUUID }),
  routes: [skillRoutes, addSkillRoute],
} as const satisfies Resource;
