export { diskName, isDiskFile, isLayer } from '../saved/layers.ts';
export { agentsHere, withAgentFiles } from './agent-files.ts';
export type { AgentFiles } from './agent-files.ts';
export { savedIds, stageSaved } from './saved-files.ts';
export type { SavedFiles } from './saved-files.ts';
export { portableTemplate } from './template-files.ts';
export type { PortableTemplate } from './template-files.ts';
