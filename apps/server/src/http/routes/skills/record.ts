import { Skill, SkillVersion } from '@lodge/contract';
import type { SkillRow, SkillVersionRow } from '@lodge/engine';
import { toWire } from '../../reply/to-wire.ts';

type Facts = Pick<SkillVersionRow, 'programs' | 'variables'>;
const requiresOf = ({ programs, variables }: Facts) => ({ requires: { programs, variables } });

export const skillRecord = (row: SkillRow): Skill => toWire(Skill, { ...row, ...requiresOf(row) });

export const versionRecord = (row: SkillVersionRow): SkillVersion =>
  toWire(SkillVersion, { ...row, ...requiresOf(row) });
