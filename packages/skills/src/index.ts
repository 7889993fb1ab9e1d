export { openSkillReader } from './reader.ts';
