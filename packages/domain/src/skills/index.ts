export { splitSkillFile, skillHeadOf } from './front-matter.ts';
export { SkillPaths, shownPath } from './paths.ts';
export { severities, skillRules } from './review/finding.ts';
export type { SkillFinding } from './review/finding.ts';
export { reviewSkill } from './review/review.ts';
export * from './skill.ts';
